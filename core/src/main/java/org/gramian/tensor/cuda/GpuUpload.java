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
    private static final int NO_TIMING = 2; // cudaEventDisableTiming

    private final Tensor target;
    private final Tensor staging;
    private final MemorySegment stream;
    private final MemorySegment arrived;
    private final MemorySegment taken;
    private final Set<Long> known = new HashSet<>();
    private final List<MemorySegment> pinned = new ArrayList<>();

    /**
     * Creates an upload.
     *
     * @param target contiguous tensor on a GPU, owned by the caller
     */
    public GpuUpload(Tensor target) {
        this.target = target;
        this.stream = Cuda.pointer("a stream", word -> (int) Cuda.NEW_STREAM.invokeExact(word, ON_ITS_OWN));
        this.arrived = event();
        this.taken = event();
        this.staging = Tensors.emptyLike(target);
        Scope.detach(staging);
        recordTaken(); // the first copy waits for earlier readers of the staging memory
    }

    private void recordTaken() {
        try {
            NativeErrors.check(
                    (int) Cuda.Copies.RECORD.invokeExact(
                            taken, Cuda.currentStream(target.device().index())),
                    "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static MemorySegment event() {
        return Cuda.pointer("an event", word -> (int) Cuda.Copies.NEW_EVENT.invokeExact(word, NO_TIMING));
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
        try {
            NativeErrors.check((int) Cuda.Copies.WAIT.invokeExact(stream, taken, 0), "upload");
            MemorySegment to = MemorySegment.ofAddress(staging.address());
            NativeErrors.check((int) Cuda.Copies.COPY.invokeExact(to, source, bytes, TO_DEVICE, stream), "upload");
            NativeErrors.check((int) Cuda.Copies.RECORD.invokeExact(arrived, stream), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    /** Makes the current stream copy the last started batch to the target once it has arrived. */
    public void takeOver() {
        try {
            MemorySegment current = Cuda.currentStream(target.device().index());
            NativeErrors.check((int) Cuda.Copies.WAIT.invokeExact(current, arrived, 0), "upload");
            target.copyFrom(staging);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
        recordTaken();
    }

    /** Waits until the source of the last copy has been read. */
    public void awaitSource() {
        try {
            NativeErrors.check((int) Cuda.Copies.AWAIT.invokeExact(arrived), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
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
        try {
            NativeErrors.check((int) Cuda.SYNCHRONIZE.invokeExact(stream), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    /** Waits for all copies and unpins their sources, which may then be freed unless another upload reads them. */
    public void unpin() {
        await();
        try {
            for (MemorySegment source : pinned) {
                NativeErrors.check((int) Cuda.Copies.UNPIN.invokeExact(source), "upload");
            }
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        } finally {
            pinned.clear();
            known.clear();
        }
    }

    @Override
    public void close() {
        unpin();
        try {
            NativeErrors.check((int) Cuda.Copies.DELETE_EVENT.invokeExact(arrived), "upload");
            NativeErrors.check((int) Cuda.Copies.DELETE_EVENT.invokeExact(taken), "upload");
            NativeErrors.check((int) Cuda.Copies.DELETE_STREAM.invokeExact(stream), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
        staging.close();
    }
}
