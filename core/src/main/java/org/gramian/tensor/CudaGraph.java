package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.gramian.tensor.library.LibtorchException;

/**
 * Work for a GPU that was recorded once and is given to it again as a whole: it then costs one call, however many operators
 * it has.
 *
 * <p>The recorded work reads and writes the same memory each time. So whatever it is to find changed must be written into
 * tensors that it was recorded with, and its results must be copied into such; what it makes besides lives in memory that
 * belongs to the graph. It must not wait for the GPU nor read from it, which most decompositions do.
 *
 * <p>Recording happens twice. The first time is a rehearsal by CUDA's own functions, which answer with a code: if it shows
 * that some operator cannot be recorded, nothing has happened. libtorch's functions, which know about memory, would end the
 * process then.
 */
public final class CudaGraph implements AutoCloseable {
    /** {@code cudaStreamCaptureModeRelaxed}: other threads may allocate meanwhile. */
    private static final int RELAXED = 2;

    /** More than {@code sizeof(at::cuda::CUDAGraph)} in any version: about 200 bytes now. */
    private static final long OBJECT_BYTES = 4096;

    private static final ThreadLocal<long[]> WAITS = ThreadLocal.withInitial(() -> new long[1]);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment graph = arena.allocate(OBJECT_BYTES, 64);
    private boolean closed;

    private CudaGraph() {}

    /** To be told by what waits for the GPU inside: an attempt to record it would end with a complaint on stderr. */
    static void waited() {
        WAITS.get()[0]++;
    }

    /** How often that was told by this thread. */
    static long waits() {
        return WAITS.get()[0];
    }

    /** Whether this libtorch can record work for a device at all. */
    public static boolean isAvailable(Device device) {
        return device.kind() == Device.Kind.CUDA && Cuda.Graphs.exist();
    }

    /**
     * Records work inside of a {@link CudaStream}. It is not done by that.
     *
     * @param work gives work to the GPU; called twice. It should have been done before, so that nothing is prepared for the
     *     first time
     * @return nothing if the work cannot be recorded
     */
    public static Optional<CudaGraph> record(Device device, Runnable work) {
        MemorySegment stream = Cuda.currentStream(device);
        if (!isAvailable(device) || stream.equals(MemorySegment.NULL) || !rehearse(stream, work)) {
            return Optional.empty();
        }
        CudaGraph graph = new CudaGraph();
        try {
            Cuda.Graphs.construct(graph.graph);
            Cuda.Graphs.BEGIN.invokeExact(graph.graph, 0L, 0L, RELAXED);
            try {
                work.run();
            } catch (LibtorchException outOfMemory) { // nothing else is left that could happen after the rehearsal
                endCapture(stream);
                return Optional.empty(); // the graph object is given up: its destructor would miss an end of its own
            }
            Cuda.Graphs.END.invokeExact(graph.graph);
            return Optional.of(graph);
        } catch (Throwable thrown) {
            throw Failures.wrap(thrown);
        }
    }

    private static boolean rehearse(MemorySegment stream, Runnable work) {
        try {
            Failures.check((int) Cuda.BEGIN_CAPTURE.invokeExact(stream, RELAXED), "recording");
            boolean possible = true;
            try {
                work.run();
            } catch (LibtorchException impossible) {
                possible = false;
            } finally {
                possible &= endCapture(stream);
            }
            return possible;
        } catch (Throwable thrown) {
            throw Failures.wrap(thrown);
        }
    }

    /** Ends a recording that is not to be kept; whether it would have been good. */
    private static boolean endCapture(MemorySegment stream) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ADDRESS);
            boolean good = (int) Cuda.END_CAPTURE.invokeExact(stream, word) == 0;
            MemorySegment made = word.get(ADDRESS, 0);
            if (!made.equals(MemorySegment.NULL)) {
                Failures.check((int) Cuda.DESTROY_GRAPH.invokeExact(made), "recording");
            }
            int _ = (int) Cuda.LAST_ERROR.invokeExact(); // forgets the error of what could not be recorded
            return good;
        }
    }

    /** Gives the recorded work to the GPU, after what was given to the current stream so far; does not wait for it. */
    public void replay() {
        if (closed) {
            throw new IllegalStateException("this graph has been freed");
        }
        try {
            Cuda.Graphs.REPLAY.invokeExact(graph);
        } catch (Throwable thrown) {
            throw Failures.wrap(thrown);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                Cuda.Graphs.DESTROY.invokeExact(graph);
            } catch (Throwable thrown) {
                throw Failures.wrap(thrown);
            }
            arena.close();
        }
    }
}
