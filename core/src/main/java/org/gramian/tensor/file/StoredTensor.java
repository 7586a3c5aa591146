package org.gramian.tensor.file;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.OptionalLong;
import org.gramian.basis.AtomicFile;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Tensor of a file: elements in row-major order, little-endian, without gaps.
 *
 * <p>The data of a tensor that was read is a read-only view of the file in memory, which lives as long as its arena and need not
 * be aligned: read it with the {@code ValueLayout.JAVA_…_UNALIGNED} layouts in {@link java.nio.ByteOrder#LITTLE_ENDIAN}, or
 * copy it as bytes. Contents are not checked: a {@link DType#BOOL} byte should be 0 or 1.
 *
 * <p>Two segments are equal only if they are the same memory; compare contents with {@link MemorySegment#mismatch}.
 *
 * @param shape the sizes; at most {@value #MAX_RANK} of them
 * @param data exactly {@code shape.elements() * type.bytes()} bytes
 */
public record StoredTensor(DType type, Shape shape, MemorySegment data) {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Most dimensions that numpy and libtorch support. */
    static final int MAX_RANK = 64;

    /** Bytes of one write. */
    private static final int CHUNK = 1 << 20;

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

    /** Returns a tensor to write: a view of its memory, or of a copy on the CPU in the current scope. */
    public static StoredTensor of(Tensor tensor) {
        Tensor host = tensor.to(Device.CPU).contiguous();
        return new StoredTensor(host.type(), host.shape(), host.data());
    }

    /** Returns a copy on the CPU, independent of the file. */
    public Tensor toTensor() {
        return Tensors.copyOf(data, type, shape);
    }

    /** Returns the index of the first element that is NaN or infinite; empty if all are finite, or not floating-point numbers. */
    public OptionalLong firstNonFinite() {
        if (!type.isFloating()) {
            return OptionalLong.empty();
        }
        for (long i = 0; i < shape.elements(); i++) {
            long at = i * type.bytes();
            // The exponent of NaN and of infinity has all bits set.
            boolean finite = switch (type) {
                case F64 -> (data.get(LONG, at) & 0x7ff0_0000_0000_0000L) != 0x7ff0_0000_0000_0000L;
                case F32 -> (data.get(INT, at) & 0x7f80_0000) != 0x7f80_0000;
                case BF16 -> (data.get(SHORT, at) & 0x7f80) != 0x7f80;
                default -> (data.get(SHORT, at) & 0x7c00) != 0x7c00;
            };
            if (!finite) {
                return OptionalLong.of(i);
            }
        }
        return OptionalLong.empty();
    }

    /** Writes a header, then the data of all tensors in their order, as one file in one atomic step. */
    static void write(Path path, byte[] header, List<StoredTensor> tensors) throws TensorFileException {
        byte[] chunk = new byte[CHUNK];
        try {
            AtomicFile.put(path, partial -> {
                try (OutputStream out = Files.newOutputStream(partial, StandardOpenOption.CREATE_NEW)) {
                    out.write(header);
                    for (StoredTensor tensor : tensors) {
                        long size = tensor.data.byteSize();
                        for (long from = 0; from < size; from += CHUNK) {
                            int count = (int) Math.min(CHUNK, size - from);
                            MemorySegment.copy(tensor.data, from, MemorySegment.ofArray(chunk), 0, count);
                            out.write(chunk, 0, count);
                        }
                    }
                }
            });
        } catch (FileSystemException e) {
            throw new TensorFileException(path, String.valueOf(e.getReason()), e);
        } catch (IOException e) {
            throw new TensorFileException(path, String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns the bytes of a tensor; throws if they exceed a {@code long}. */
    static long bytes(DType type, Shape shape) {
        if (shape.elements() > Long.MAX_VALUE / type.bytes()) {
            throw new IllegalArgumentException("the bytes of " + type + " of shape " + shape + " exceed 2^63-1");
        }
        return shape.elements() * type.bytes();
    }
}
