package org.gramian.tensor;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Element type of a {@link Tensor}, with its size in bytes, its code in libtorch's C ABI and its name in a safetensors
 * header.
 *
 * @since 0.1
 */
public enum DType {
    /** IEEE float64: golden values and gradient checks. */
    F64(8, 7),
    /** IEEE float32: the working type. */
    F32(4, 6),
    /** bfloat16: 8 bits of mantissa, the range of {@link #F32}. */
    BF16(2, 15),
    /** IEEE float16. */
    F16(2, 5),
    /** Signed 64-bit integer: labels and indices. */
    I64(8, 4),
    /** Signed 32-bit integer: LAPACK's status codes. */
    I32(4, 3),
    /** Unsigned byte: pixels. */
    U8(1, 0),
    /** Boolean, one byte: the result of comparisons. */
    BOOL(1, 11);

    private final int bytes;
    private final int code;

    DType(int bytes, int code) {
        this.bytes = bytes;
        this.code = code;
    }

    /** Returns the size of one element in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Returns the code of the type in libtorch's C ABI. */
    int code() {
        return code;
    }

    /** Returns whether this is a floating-point type, which can have gradients. */
    public boolean isFloating() {
        return this == F64 || this == F32 || this == BF16 || this == F16;
    }

    /**
     * Returns the machine epsilon: the distance from 1 to the next number.
     *
     * @throws IllegalArgumentException if this is no floating-point type
     */
    public double epsilon() {
        return switch (this) {
            case F64 -> 0x1p-52;
            case F32 -> 0x1p-23;
            case F16 -> 0x1p-10;
            case BF16 -> 0x1p-7;
            default -> throw new IllegalArgumentException("expected a floating-point type, found " + this);
        };
    }

    static DType ofCode(int code) {
        for (DType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        throw new IllegalArgumentException("libtorch scalar type " + code + " is none of " + names());
    }

    /** Returns all names for messages: {@code F64, F32, …}. */
    public static String names() {
        return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
    }
}
