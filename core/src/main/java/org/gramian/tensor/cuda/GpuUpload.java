package org.gramian.tensor.cuda;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Cuda;
import org.gramian.tensor.library.NativeErrors;

/**
 * Copies batches from host memory to a tensor of a GPU while the GPU computes: each batch goes to a staging tensor
 * first, and to the target when the work that reads it has finished.
 *
 * <p>Host memory is pinned where the system allows it, since only then the copy is asynchronous. Use inside a {@code
 * CudaStream} that reads the target.
 */
public final class GpuUpload implements AutoCloseable {
    private static final int TO_DEVICE = 1; // cudaMemcpyHostToDevice
    private static final int ON_ITS_OWN = 1; // cudaStreamNonBlocking

    private final Tensor target;
    private final Tensor staging;
    private final MemorySegment stream;
    private final MemorySegment arrived;
    private final MemorySegment taken;
    private final Set<Long> known = new HashSet<>();
    private final List<MemorySegment> pinned = new ArrayList<>();

    public GpuUpload(Tensor target) {
        this.target = target;
        this.stream = Cuda.pointer("a stream", word -> (int) Cuda.NEW_STREAM.invokeExact(word, ON_ITS_OWN));
        this.arrived = Cuda.newEvent();
        this.taken = Cuda.newEvent();
        this.staging = Tensors.emptyLike(target);
        Scope.detach(staging);
        Cuda.record(taken, currentStream()); // the first copy waits for earlier readers of the staging memory
    }

    private MemorySegment currentStream() {
        return Cuda.currentStream(target.device().index());
    }

    /**
     * Starts a copy after all copies started before; returns at once if the source is pinned.
     *
     * @param source as many bytes as the target; must not change before {@link #awaitSource} nor be freed before {@link
     *     #unpin}
     */
    public void start(MemorySegment source) {
        long bytes = target.shape().elements() * target.type().bytes();
        if (source.byteSize() < bytes) {
            throw new IllegalArgumentException("expected " + bytes + " bytes, found " + source.byteSize());
        }
        if (known.add(source.address())) {
            pin(source);
        }
        Cuda.await(stream, taken);
        MemorySegment to = MemorySegment.ofAddress(staging.address());
        NativeErrors.call("upload", () -> (int) Cuda.Copies.COPY.invokeExact(to, source, bytes, TO_DEVICE, stream));
        Cuda.record(arrived, stream);
    }

    /** Makes the current stream copy the last started batch to the target once it has arrived. */
    public void takeOver() {
        Cuda.await(currentStream(), arrived);
        target.copyFrom(staging);
        Cuda.record(taken, currentStream());
    }

    /** Waits until the source of the last copy has been read. */
    public void awaitSource() {
        NativeErrors.call("upload", () -> (int) Cuda.Copies.AWAIT.invokeExact(arrived));
    }

    private void pin(MemorySegment source) {
        try {
            if ((int) Cuda.Copies.PIN.invokeExact(source, source.byteSize(), 0) == 0) {
                pinned.add(source);
            } else {
                int _ = (int)
                        Cuda.LAST_ERROR.invokeExact(); // the system limits pinned memory; unpinned copies are slower
            }
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    /** Waits for all copies. */
    public void await() {
        NativeErrors.call("upload", () -> (int) Cuda.SYNCHRONIZE.invokeExact(stream));
    }

    /** Waits for all copies and unpins their sources, which may then be freed unless another upload reads them. */
    public void unpin() {
        await();
        for (MemorySegment source : pinned) {
            NativeErrors.call("upload", () -> (int) Cuda.Copies.UNPIN.invokeExact(source));
        }
        pinned.clear();
        known.clear();
    }

    @Override
    public void close() {
        unpin();
        NativeErrors.call("upload", () -> (int) Cuda.Copies.DELETE_EVENT.invokeExact(arrived));
        NativeErrors.call("upload", () -> (int) Cuda.Copies.DELETE_EVENT.invokeExact(taken));
        NativeErrors.call("upload", () -> (int) Cuda.Copies.DELETE_STREAM.invokeExact(stream));
        staging.close();
    }
}
