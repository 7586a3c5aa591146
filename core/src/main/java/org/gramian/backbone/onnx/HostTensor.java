package org.gramian.backbone.onnx;

import java.util.Arrays;
import org.gramian.tensor.Shape;

/**
 * Small constant of a graph: sizes, axes, indexes, or scalars of formulas.
 *
 * <p>Integers are kept as doubles, exact below 2⁵³; larger ones occur only as "to the end" in Slice and are rounded.
 *
 * @param whole whether the elements are integers or booleans
 * @param shape sizes
 * @param values elements in row-major order
 */
@SuppressWarnings("ArrayRecordComponent") // never changed
public record HostTensor(boolean whole, Shape shape, double[] values) {
    /** Largest number of elements. */
    static final int MAX_ELEMENTS = 1 << 20;

    public HostTensor {
        if (shape.elements() != values.length) {
            throw new IllegalArgumentException(
                    "expected " + shape.elements() + " values for the shape " + shape + ", found " + values.length);
        }
    }

    /** Returns a list of integers. */
    static HostTensor ofLongs(long... values) {
        return new HostTensor(
                true,
                Shape.of(values.length),
                Arrays.stream(values).mapToDouble(value -> value).toArray());
    }

    /** Returns a list of floating-point numbers. */
    static HostTensor ofDoubles(double... values) {
        return new HostTensor(false, Shape.of(values.length), values);
    }

    /** Returns a scalar. */
    static HostTensor scalar(boolean whole, double value) {
        return new HostTensor(whole, Shape.of(), new double[] {value});
    }

    /** Returns the elements as integers; fractions are truncated. */
    long[] longs() {
        return Arrays.stream(values).mapToLong(value -> (long) value).toArray();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HostTensor tensor
                && whole == tensor.whole
                && shape.equals(tensor.shape)
                && Arrays.equals(values, tensor.values);
    }

    @Override
    public int hashCode() {
        return 31 * shape.hashCode() + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return (whole ? "integers " : "numbers ") + shape;
    }
}
