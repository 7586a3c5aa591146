package org.gramian.backbone.weights.format;

import io.jhdf.api.Dataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.object.datatype.FloatingPoint;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;

/**
 * One dataset of an HDF5 file as a tensor: mapped where it lies in one piece, else copied, as chunks and compression
 * make necessary.
 *
 * @param path the file, for messages
 * @param name of the weight, for messages
 * @param data the dataset
 */
record KerasWeight(Path path, String name, Dataset data) {
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    StoredTensor read(Arena arena, UnpackingLimit allowance) throws TensorFileException {
        if (!(data.getDataType() instanceof FloatingPoint real) || data.isVariableLength() || data.isCompound()) {
            throw fault("expected floating-point numbers, found HDF5 class "
                    + data.getDataType().getDataClass());
        }
        Shape shape = Shape.of(data.isScalar() ? new long[0] : data.getDimensionsAsLong());
        long size = Math.multiplyExact(shape.elements(), real.getSize());
        long file = path.toFile().length();
        boolean whole = data instanceof ContiguousDataset && real.getByteOrder() == ByteOrder.LITTLE_ENDIAN;
        if (size > (whole ? file : Limits.unpacked(file))) {
            throw fault("expected at most as much as the file of %d bytes can hold, found a shape of %s"
                    .formatted(file, shape));
        }
        allowance.take(name, size);
        DType type = switch (real.getSize()) {
            case 2 -> DType.F16;
            case 4 -> DType.F32;
            case 8 -> DType.F64;
            default -> throw fault("expected numbers of 2, 4 or 8 bytes, found " + real.getSize());
        };
        if (whole && size > 0) {
            ByteBuffer mapped = ((ContiguousDataset) data).getBuffer();
            return new StoredTensor(
                    type,
                    shape,
                    MemorySegment.ofBuffer(mapped.slice(0, (int) size)).asReadOnly());
        }
        return copied(shape, arena);
    }

    private StoredTensor copied(Shape shape, Arena arena) throws TensorFileException {
        Object flat = shape.elements() == 0 ? new float[0] : data.getDataFlat();
        return switch (flat) {
            case float[] singles -> {
                MemorySegment copy =
                        arena.allocate(Math.multiplyExact((long) singles.length, Float.BYTES), Float.BYTES);
                MemorySegment.copy(singles, 0, copy, FLOAT, 0, singles.length);
                yield new StoredTensor(DType.F32, shape, copy.asReadOnly());
            }
            case double[] doubles -> {
                MemorySegment copy =
                        arena.allocate(Math.multiplyExact((long) doubles.length, Double.BYTES), Double.BYTES);
                MemorySegment.copy(doubles, 0, copy, DOUBLE, 0, doubles.length);
                yield new StoredTensor(DType.F64, shape, copy.asReadOnly());
            }
            default -> throw fault("expected numbers, found " + flat.getClass().getSimpleName());
        };
    }

    private TensorFileException fault(String problem) {
        return new TensorFileException(path, "weight " + QuotedText.text(name) + ": " + problem);
    }
}
