package org.gramian.tensor.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Cuda;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * Second CUDA stream beside the {@link CudaStream} of the current thread, for work whose results are needed late: its
 * kernels fill the multiprocessors that small kernels of the current stream leave idle. In a CUDA graph it becomes a
 * parallel branch.
 *
 * <p>Work is submitted in sections. A section starts after all work that the current stream has received so far; its
 * results may be read on the current stream only after {@link #join}. libtorch gives the memory of a freed tensor at
 * once to the next tensor of the same stream. Therefore a section holds the tensors that it reads until the current
 * stream has waited for it. Its results may be freed at any time: their memory returns to later sections only, which
 * start after their readers.
 */
public final class SideStream implements Scheduler {
    private static final int LOWEST_PRIORITY = 0;

    /** Most sections that the current stream has not waited for. */
    private static final int MAX_SECTIONS = 8;

    /** Bytes held by sections from which on the current stream waits for the older half of them. */
    private static final long MAX_BYTES = 256L << 20;

    /** Bytes that a section may read: kernels that read more fill the GPU alone, and holding the tensors would cost memory. */
    private static final long MAX_READ_BYTES = MAX_BYTES / 2;

    private static final int ACTIVE = 1; // cudaStreamCaptureStatusActive

    /**
     * Stream and events of a GPU for the life of the process: libtorch caches memory by stream.
     *
     * @param begin recorded on the current stream where a section starts
     * @param ends recorded at the ends of sections, in turn
     * @param inUse whether a thread has opened the stream
     */
    private record Shared(MemorySegment stream, MemorySegment begin, List<MemorySegment> ends, AtomicBoolean inUse) {
        static Shared create() {
            return new Shared(
                    CudaStream.create(LOWEST_PRIORITY),
                    Cuda.newEvent(),
                    Stream.generate(Cuda::newEvent).limit(MAX_SECTIONS).toList(),
                    new AtomicBoolean());
        }
    }

    private static final Map<Integer, Shared> STREAMS = new ConcurrentHashMap<>();
    private static final AtomicLong SECTIONS = new AtomicLong();

    /**
     * Work that the current stream has not waited for.
     *
     * @param held other handles on the tensors that it reads
     */
    private record Section(MemorySegment end, List<Tensor> held, long bytes) {}

    private final int device;
    private final MemorySegment current;
    private final Shared shared;
    private final Deque<Section> sections = new ArrayDeque<>();
    private long bytes;
    private int next;

    private SideStream(int device, MemorySegment current, Shared shared) {
        this.device = device;
        this.current = current;
        this.shared = shared;
    }

    /**
     * Opens the stream of a GPU on this thread.
     *
     * @return null on the CPU, outside of a {@link CudaStream}, or if the stream is open already
     */
    public static @Nullable SideStream open(Device device) {
        if (device.kind() != Device.Kind.CUDA) {
            return null;
        }
        MemorySegment current = Cuda.currentStream(device.index());
        if (current.equals(MemorySegment.NULL)) {
            return null; // the default stream
        }
        Shared shared = STREAMS.computeIfAbsent(device.index(), _ -> Shared.create());
        return shared.inUse.compareAndSet(false, true) ? new SideStream(device.index(), current, shared) : null;
    }

    /**
     * Opens the stream of a GPU on this thread if its work is being captured. Otherwise there is nothing to gain: the host
     * submits kernels no faster than one stream runs them, and trials of cuDNN would disturb each other.
     *
     * @return {@link Scheduler#SEQUENTIAL} if no capture is under way or the stream cannot be opened
     */
    public static Scheduler openInCapture(Device device) {
        SideStream opened = device.kind() == Device.Kind.CUDA && isCapturing(Cuda.currentStream(device.index()))
                ? open(device)
                : null;
        return opened == null ? Scheduler.SEQUENTIAL : opened;
    }

    private static boolean isCapturing(MemorySegment stream) {
        if (stream.equals(MemorySegment.NULL)) {
            return false;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(JAVA_INT);
            NativeErrors.call("status of a stream", () -> (int) Cuda.IS_CAPTURING.invokeExact(stream, status));
            return status.get(JAVA_INT, 0) == ACTIVE;
        }
    }

    private static long bytes(List<Tensor> tensors) {
        return tensors.stream()
                .mapToLong(tensor -> tensor.shape().elements() * tensor.type().bytes())
                .sum();
    }

    public static long sections() {
        return SECTIONS.get();
    }

    /** Runs work as a section, or on the current stream if it reads much; returns when it is submitted. */
    @Override
    public List<@Nullable Tensor> run(List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
        long size = bytes(reads);
        if (size > MAX_READ_BYTES) {
            return SEQUENTIAL.run(reads, work);
        }
        while (sections.size() == MAX_SECTIONS || (bytes + size > MAX_BYTES && !sections.isEmpty())) {
            join(sections.size() / 2);
        }
        Cuda.record(shared.begin, current);
        Cuda.await(shared.stream, shared.begin);
        Section section = new Section(shared.ends.get(next), aliases(reads), size);
        next = (next + 1) % MAX_SECTIONS;
        sections.addLast(section);
        bytes += size;
        SECTIONS.incrementAndGet();
        try (Switch _ = new Switch(section.end);
                Scope scope = Scope.open()) {
            List<@Nullable Tensor> results = work.get();
            for (Tensor result : results) {
                if (result != null) {
                    scope.keep(result);
                }
            }
            return results;
        }
    }

    /** Makes this the stream of the thread; closing it ends the section, also after a failure. */
    private final class Switch implements AutoCloseable {
        private final MemorySegment end;
        private final MemorySegment guard = CudaStream.guard(shared.stream, device);

        Switch(MemorySegment end) {
            this.end = end;
        }

        @Override
        public void close() {
            CudaStream.delete(guard);
            Cuda.record(end, shared.stream);
        }
    }

    private static List<Tensor> aliases(List<Tensor> tensors) {
        List<Tensor> aliases = new ArrayList<>();
        for (Tensor tensor : tensors) {
            Tensor alias = tensor.alias();
            Scope.detach(alias);
            aliases.add(alias);
        }
        return aliases;
    }

    /** Makes the current stream wait for all sections, so that it can read their results. */
    @Override
    public void join() {
        join(0);
    }

    /** Makes the current stream wait for all sections but the last few. */
    private void join(int left) {
        List<Section> done = new ArrayList<>();
        while (sections.size() > left) {
            done.add(sections.removeFirst());
        }
        if (done.isEmpty()) {
            return;
        }
        try {
            Cuda.await(current, done.getLast().end); // the stream is in order: the earlier ones are finished then
        } finally {
            for (Section section : done) {
                bytes -= section.bytes;
                section.held.forEach(Tensor::close);
            }
        }
    }

    /** Joins all sections. */
    @Override
    public void close() {
        try {
            join();
        } finally {
            shared.inUse.set(false);
        }
    }
}
