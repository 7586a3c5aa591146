package org.gramian.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A stream of work of this thread's own: while it is open, what the thread gives to the GPU goes there and not to CUDA's
 * default stream, of which no {@link CudaGraph} can be made.
 *
 * <p>Everything given before it was opened is done when its work begins, and all of its work is done when it is closed. On
 * the processor it does nothing. Tensors made inside may be used outside and the other way round, by this thread.
 */
public final class CudaStream implements AutoCloseable {
    /** {@code cudaStreamNonBlocking}: the default stream does not wait for it, which a recording would not survive. */
    private static final int ON_ITS_OWN = 1;

    /** One for each GPU, for ever: libtorch keeps memory by stream. */
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
        Libtorch.load().synchronize(device);
        MemorySegment stream = STREAMS.computeIfAbsent(
                device.index(),
                index -> Cuda.pointer("a stream", word -> (int) Cuda.NEW_STREAM.invokeExact(word, ON_ITS_OWN)));
        MemorySegment guard = Cuda.pointer(
                "switch of the stream", word -> (int) Cuda.NEW_GUARD.invokeExact(stream, device.index(), word));
        return new CudaStream(stream, guard);
    }

    @Override
    public void close() {
        if (!guard.equals(MemorySegment.NULL)) {
            try {
                int code = (int) Cuda.SYNCHRONIZE.invokeExact(stream);
                Failures.check((int) Cuda.DELETE_GUARD.invokeExact(guard), "switch of the stream");
                Failures.check(code, "work on the GPU");
            } catch (Throwable thrown) {
                throw Failures.wrap(thrown);
            }
        }
    }
}
