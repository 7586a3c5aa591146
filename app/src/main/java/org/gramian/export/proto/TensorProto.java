package org.gramian.export.proto;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * ONNX's {@code TensorProto}: a named constant with its numbers as raw bytes, little-endian, rows after each other.
 *
 * @param name under which nodes use it
 * @param type of its numbers
 * @param sizes of its axes; none for a single number
 * @param content the numbers
 */
public record TensorProto(String name, ElementType type, List<Long> sizes, MemorySegment content) {
    private static final int DIMS = 1;
    private static final int DATA_TYPE = 2;
    private static final int NAME = 8;
    private static final int RAW_DATA = 9;

    /** Types of numbers, by ONNX's code. */
    public enum ElementType {
        FLOAT(1, Float.BYTES),
        INT64(7, Long.BYTES);

        private final int code;
        private final int bytes;

        ElementType(int code, int bytes) {
            this.code = code;
            this.bytes = bytes;
        }

        int code() {
            return code;
        }
    }

    /** @throws IllegalArgumentException if there are not as many numbers as the sizes say */
    public TensorProto {
        sizes = List.copyOf(sizes);
        long elements = sizes.stream().reduce(1L, Math::multiplyExact);
        if (content.byteSize() != elements * type.bytes) {
            throw new IllegalArgumentException("constant " + name + ": expected " + elements + " values of " + type
                    + " for the shape " + sizes + ", found " + content.byteSize() + " bytes");
        }
    }

    /** Single precision. */
    public static TensorProto of(String name, List<Long> sizes, float... values) {
        return new TensorProto(name, ElementType.FLOAT, sizes, MemorySegment.ofArray(values));
    }

    /** Whole numbers in a row. */
    public static TensorProto of(String name, long... values) {
        return new TensorProto(name, ElementType.INT64, List.of((long) values.length), MemorySegment.ofArray(values));
    }

    Message message() {
        return new Message()
                .wholes(DIMS, sizes)
                .whole(DATA_TYPE, type.code())
                .text(NAME, name)
                .bytes(RAW_DATA, content);
    }
}
