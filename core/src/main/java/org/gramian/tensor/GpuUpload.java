package org.gramian.tensor;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Brings batches from the host's memory into one tensor of a GPU while that computes: each goes into memory beside the tensor
 * first, and from there into the tensor when the work that read it is over.
 *
 * <p>The host's memory is pinned where the system allows it, since only then nobody waits for the copy. Use it inside of a
 * {@link CudaStream}, in which the tensor is read.
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

    /** @param target a tensor without gaps on a GPU, which stays the caller's */
    public GpuUpload(Tensor target) {
        this.target = target;
        this.stream = Cuda.pointer("a stream", word -> (int) Cuda.NEW_STREAM.invokeExact(word, ON_ITS_OWN));
        this.arrived = event();
        this.taken = event();
        this.staging = Tensors.emptyLike(target);
        Scope.detach(staging);
        recordTaken(); // the memory may have been somebody's whose work is still under way: the first copy waits for
        // it, too
    }

    private void recordTaken() {
        try {
            NativeErrors.check((int) Cuda.Copies.RECORD.invokeExact(taken, Cuda.currentStream(target.device())), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static MemorySegment event() {
        return Cuda.pointer("an event", word -> (int) Cuda.Copies.NEW_EVENT.invokeExact(word, NO_TIMING));
    }

    /**
     * Begins to copy, behind whatever was begun before; returns at once where the source is pinned.
     *
     * @param source as many bytes as the tensor has; not to be changed before {@link #awaitSource}, nor freed before {@link #unpin}
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
            MemorySegment to = Native.data(staging.handle());
            NativeErrors.check((int) Cuda.Copies.COPY.invokeExact(to, source, bytes, TO_DEVICE, stream), "upload");
            NativeErrors.check((int) Cuda.Copies.RECORD.invokeExact(arrived, stream), "upload");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    /** Has the current stream take over what was begun last, when it is there. */
    public void takeOver() {
        try {
            MemorySegment current = Cuda.currentStream(target.device());
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
                int _ = (int) Cuda.LAST_ERROR.invokeExact(); // the system has a limit: copies are slower then
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

    /** Waits for all copies and lets their sources be freed, unless another upload reads them. */
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
