package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Crops of images, {@code [n, 3, size, size]} in single precision, of which the first {@link #places()} are in use and
 * the rest is zero.
 *
 * <p>Closing it lets its memory be used for a batch to come: what {@link #memory} and {@link #tensor} returned earlier must
 * not be read afterwards, nor once the loader is closed, whose memory it is; this is not checked.
 */
public final class Batch implements AutoCloseable {
    private final MemorySegment memory;
    private final Shape shape;
    private final List<Place> places;
    private final Runnable release;
    private boolean closed;

    Batch(MemorySegment memory, Shape shape, List<Place> places, Runnable release) {
        this.memory = memory;
        this.shape = shape;
        this.places = List.copyOf(places);
        this.release = release;
    }

    /** What lies where, from the first place on; fewer than the batch has only at the end of a list. */
    public List<Place> places() {
        return places;
    }

    /** The numbers. */
    public MemorySegment memory() {
        requireOpen();
        return memory;
    }

    /** {@code [n, 3, size, size]}, with the crops that are not in use. */
    public Shape shape() {
        return shape;
    }

    /** A view of the numbers as a tensor, without a copy; it belongs to the current scope. */
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
