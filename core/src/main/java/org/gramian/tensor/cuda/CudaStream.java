package org.gramian.tensor.cuda;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Cuda;
import org.gramian.tensor.library.NativeErrors;

/**
 * CUDA stream of the current thread: while it is open, the thread submits work to it instead of the default stream,
 * which cannot be captured into a CUDA graph.
 *
 * <p>Work submitted before it was opened is finished before its own work starts, and all its work is finished when it
 * is closed. It does nothing on the CPU. Tensors created inside may be used outside and vice versa, by this thread.
 */
public final class CudaStream implements AutoCloseable {
    /** {@code cudaStreamNonBlocking}: no implicit synchronization with the default stream, which would invalidate a capture. */
    private static final int ON_ITS_OWN = 1;

    /** Higher than the default of other streams, 0: a {@link SideStream} gets the multiprocessors that this one leaves. */
    private static final int PRIORITY = -1;

    /** One stream per GPU for the life of the process: libtorch caches memory by stream. */
    private static final Map<Integer, MemorySegment> STREAMS = new ConcurrentHashMap<>();

    private final MemorySegment stream;
    private final MemorySegment guard;

    private CudaStream(MemorySegment stream, MemorySegment guard) {
        this.stream = stream;
        this.guard = guard;
    }

    /** Opens the stream of a GPU on this thread. */
    public static CudaStream open(Device device) {
        if (device.kind() != Device.Kind.CUDA) {
            return new CudaStream(MemorySegment.NULL, MemorySegment.NULL);
        }
        device.synchronize();
        MemorySegment stream = STREAMS.computeIfAbsent(device.index(), _ -> create(PRIORITY));
        return new CudaStream(stream, guard(stream, device.index()));
    }

    /**
     * Creates a stream of the thread's current GPU.
     *
     * @param priority lower numbers first; kernels keep it in a CUDA graph
     */
    static MemorySegment create(int priority) {
        return Cuda.pointer(
                "a stream", word -> (int) Cuda.NEW_STREAM_OF_PRIORITY.invokeExact(word, ON_ITS_OWN, priority));
    }

    /** Makes a stream the current one of the thread until the guard is deleted. */
    static MemorySegment guard(MemorySegment stream, int device) {
        return Cuda.pointer("switch of the stream", word -> (int) Cuda.NEW_GUARD.invokeExact(stream, device, word));
    }

    /** Restores the stream from before a guard. */
    static void delete(MemorySegment guard) {
        NativeErrors.call("switch of the stream", () -> (int) Cuda.DELETE_GUARD.invokeExact(guard));
    }

    @Override
    public void close() {
        if (!guard.equals(MemorySegment.NULL)) {
            try {
                NativeErrors.call("work on the GPU", () -> (int) Cuda.SYNCHRONIZE.invokeExact(stream));
            } finally {
                delete(guard);
            }
        }
    }
}
