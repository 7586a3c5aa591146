package org.gramian.tensor;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The element type of a {@link Tensor}: its size in bytes, its code in libtorch's C ABI and its name in a safetensors
 * header.
 */
public enum DType {
    /** IEEE double precision: the type of golden values and gradient checks. */
    F64(8, 7),
    /** IEEE single precision: the working type. */
    F32(4, 6),
    /** The upper half of a single: eight bits of mantissa, the range of {@link #F32}. */
    BF16(2, 15),
    /** IEEE half precision. */
    F16(2, 5),
    /** Signed 64-bit integer: labels and indices. */
    I64(8, 4),
    /** Signed 32-bit integer: what LAPACK answers with. */
    I32(4, 3),
    /** Unsigned byte: pixels. */
    U8(1, 0),
    /** One byte per truth value: what comparisons return. */
    BOOL(1, 11);

    private final int bytes;
    private final int code;

    DType(int bytes, int code) {
        this.bytes = bytes;
        this.code = code;
    }

    /** Size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    /** The scalar type's number in libtorch's C ABI. */
    int code() {
        return code;
    }

    /** Whether values of this type are real numbers, so that they can carry gradients. */
    public boolean isFloating() {
        return this == F64 || this == F32 || this == BF16 || this == F16;
    }

    static DType ofCode(int code) {
        for (DType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        throw new IllegalArgumentException("libtorch scalar type " + code + " is none of " + names());
    }

    /** All names, for messages: {@code F64, F32, …}. */
    public static String names() {
        return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
    }
}
