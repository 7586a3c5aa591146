package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * A batch of crops in float32, {@code [n, 3, size, size]}; slots after the last of {@link #slots()} are zero.
 *
 * <p>Closing it releases its memory for another batch: do not use results of {@link #memory} and {@link #tensor} after that, nor
 * after the loader is closed; this is not checked.
 */
public final class Batch implements AutoCloseable {
    private final MemorySegment memory;
    private final Shape shape;
    private final List<BatchSlot> slots;
    private final Runnable release;
    private boolean closed;

    /**
     * A crop in a batch.
     *
     * @param request index into the list of requests
     * @param crop index into the crops of the image
     * @param problem why the image could not be read; the crop is zero then
     */
    public record BatchSlot(int request, int crop, Optional<Unreadable> problem) {}

    Batch(MemorySegment memory, Shape shape, List<BatchSlot> slots, Runnable release) {
        this.memory = memory;
        this.shape = shape;
        this.slots = List.copyOf(slots);
        this.release = release;
    }

    /** Returns the crops in the batch, in order; fewer than the batch size only at the end of a list. */
    public List<BatchSlot> slots() {
        return slots;
    }

    public MemorySegment memory() {
        requireOpen();
        return memory;
    }

    /** Returns {@code [n, 3, size, size]}, padding included. */
    public Shape shape() {
        return shape;
    }

    /** Returns a view of the memory as a tensor, in the current scope. */
    public Tensor tensor() {
        requireOpen();
        return Tensors.viewOf(memory, DType.F32, shape);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("this batch was closed: its memory belongs to another one");
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            release.run();
        }
    }
}
