package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
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
    static final int MAX_ELEMENTS = 1 << 20;

    public HostTensor {
        if (shape.elements() != values.length) {
            throw new IllegalArgumentException(
                    "expected " + shape.elements() + " values for the shape " + shape + ", found " + values.length);
        }
    }

    public static HostTensor of(long... values) {
        double[] numbers = Arrays.stream(values).asDoubleStream().toArray();
        return new HostTensor(true, Shape.of(values.length), numbers);
    }

    public static HostTensor integer(long value) {
        return new HostTensor(true, Shape.of(), new double[] {value});
    }

    public static HostTensor number(double value) {
        return new HostTensor(false, Shape.of(), new double[] {value});
    }

    /** Returns the elements as integers; fractions are truncated. */
    public long[] integers() {
        return Arrays.stream(values).mapToLong(value -> (long) value).toArray();
    }

    HostTensor reshape(Shape other) {
        return new HostTensor(whole, other, values);
    }

    /** Returns the distance of neighbours along each dimension. */
    static long[] strides(Shape shape) {
        long[] strides = new long[shape.rank()];
        long step = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            strides[i] = step;
            step *= shape.at(i);
        }
        return strides;
    }

    double at(long[] index, long[] strides) {
        return values[offset(index, strides)];
    }

    static int offset(long[] index, long[] strides) {
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset += index[i] * strides[i];
        }
        return Math.toIntExact(offset);
    }

    /** Returns the elements by index in a shape that this one broadcasts to. */
    ToDoubleFunction<long[]> broadcast(Shape to) {
        long[] own = strides(shape);
        long[] strides = new long[to.rank()];
        for (int i = 1; i <= own.length; i++) {
            strides[strides.length - i] = shape.at(-i) == 1 ? 0 : own[own.length - i];
        }
        return index -> at(index, strides);
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
