package org.gramian.tensor.file;

import java.lang.foreign.MemorySegment;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * A tensor as it lies in a file: its elements in row-major order, each in little-endian bytes, nothing between them.
 *
 * <p>The data of a tensor that was read is a read-only window on the mapped file. It lives as long as the arena it was
 * read into, and begins wherever the file put it, which need not be a multiple of the element size: read it with the
 * {@code ValueLayout.JAVA_…_UNALIGNED} layouts in {@link java.nio.ByteOrder#LITTLE_ENDIAN}, or copy it as bytes.
 * Contents are not checked: a {@link DType#BOOL} byte is expected to be 0 or 1.
 *
 * <p>Equality is that of records, and two segments are equal only if they are the same memory; compare contents with
 * {@link MemorySegment#mismatch}.
 *
 * @param type the type of every element
 * @param shape the sizes; at most {@value #MAX_RANK} of them
 * @param data exactly {@code shape.elements() * type.bytes()} bytes
 */
public record StoredTensor(DType type, Shape shape, MemorySegment data) {
    /** The most dimensions that numpy and libtorch handle, and so the most that a file may ask for. */
    static final int MAX_RANK = 64;

    /** @throws IllegalArgumentException if the data is not of the size that type and shape imply */
    public StoredTensor {
        if (shape.rank() > MAX_RANK) {
            throw new IllegalArgumentException(
                    "expected at most " + MAX_RANK + " dimensions, found " + shape.rank() + " in shape " + shape);
        }
        long expected = bytes(type, shape);
        if (data.byteSize() != expected) {
            throw new IllegalArgumentException(
                    "%s of shape %s takes %d bytes, found %d".formatted(type, shape, expected, data.byteSize()));
        }
    }

    /** A tensor to be written: a look at its memory, or at a copy on the processor that the current scope owns. */
    public static StoredTensor of(Tensor tensor) {
        Tensor host = Views.contiguous(Tensors.to(tensor, Device.CPU));
        return new StoredTensor(host.type(), host.shape(), host.data());
    }

    /** A copy on the processor, independent of the file. */
    public Tensor toTensor() {
        return Tensors.copyOf(data, type, shape);
    }

    /** The bytes that a tensor takes; an {@link IllegalArgumentException} if that number exceeds a {@code long}. */
    static long bytes(DType type, Shape shape) {
        if (shape.elements() > Long.MAX_VALUE / type.bytes()) {
            throw new IllegalArgumentException("the bytes of " + type + " of shape " + shape + " exceed 2^63-1");
        }
        return shape.elements() * type.bytes();
    }
}
