package org.gramian.backbone.onnx;

import java.util.Arrays;
import org.gramian.tensor.Shape;

/**
 * Small constant of a graph: sizes, axes, indexes, or scalars of formulas.
 *
 * <p>Integers are kept as doubles, exact below 2⁵³; larger ones occur only as "to the end" in Slice and are rounded.
 *
 * @param whole whether the elements are integers or booleans
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
    public static HostTensor of(long... values) {
        double[] numbers = Arrays.stream(values).asDoubleStream().toArray();
        return new HostTensor(true, Shape.of(values.length), numbers);
    }

    /** Returns an integer. */
    public static HostTensor integer(long value) {
        return new HostTensor(true, Shape.of(), new double[] {value});
    }

    /** Returns a floating-point number. */
    public static HostTensor number(double value) {
        return new HostTensor(false, Shape.of(), new double[] {value});
    }

    /** Returns the elements as integers; fractions are truncated. */
    public long[] integers() {
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
