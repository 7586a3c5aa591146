package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.function.ToDoubleFunction;
import org.gramian.tensor.Shape;

/**
 * Operators on constants: shape arithmetic and folded formulas.
 *
 * <p>Integers divide as in ONNX, rounded toward zero.
 */
final class HostMath {
    private HostMath() {}

    /** Returns a tensor of values by index. */
    static HostTensor fill(NodeContext at, boolean whole, Shape shape, ToDoubleFunction<long[]> value) {
        if (shape.elements() > HostTensor.MAX_ELEMENTS) {
            throw at.error("expected a constant of at most " + HostTensor.MAX_ELEMENTS + " elements, found the shape "
                    + shape);
        }
        at.countFolded(shape.elements());
        double[] values = new double[(int) shape.elements()];
        long[] index = new long[shape.rank()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value.applyAsDouble(index);
            for (int d = index.length - 1; d >= 0 && ++index[d] == shape.at(d); d--) {
                index[d] = 0;
            }
        }
        return new HostTensor(whole, shape, values);
    }

    /** Returns the entries at some indexes of an axis. */
    static HostTensor take(NodeContext at, HostTensor x, int axis, long count, LongUnaryOperator indexes) {
        long[] strides = HostTensor.strides(x.shape());
        return fill(at, x.whole(), x.shape().with(axis, count), index -> {
            long[] source = index.clone();
            source[axis] = indexes.applyAsLong(index[axis]);
            return x.at(source, strides);
        });
    }

    static HostTensor map(NodeContext at, DoubleUnaryOperator function) {
        HostTensor x = at.constant(0);
        at.countFolded(x.values().length);
        return new HostTensor(
                x.whole(), x.shape(), Arrays.stream(x.values()).map(function).toArray());
    }

    static HostTensor zip(NodeContext at, DoubleBinaryOperator function) {
        HostTensor result = at.constant(0);
        for (int i = 1; i < Math.max(2, at.inputs().size()); i++) {
            HostTensor other = at.constant(i);
            Shape shape = at.broadcast(result.shape(), other.shape());
            ToDoubleFunction<long[]> left = result.broadcast(shape);
            ToDoubleFunction<long[]> right = other.broadcast(shape);
            result = fill(
                    at,
                    result.whole() && other.whole(),
                    shape,
                    index -> function.applyAsDouble(left.applyAsDouble(index), right.applyAsDouble(index)));
        }
        return result;
    }

    static HostTensor divide(NodeContext at) {
        return zip(
                at, at.constant(0).whole() ? (a, b) -> (double) Math.divideExact((long) a, (long) b) : (a, b) -> a / b);
    }

    static HostTensor modulo(NodeContext at) {
        return zip(at, at.constant(0).whole() ? (a, b) -> Math.floorMod((long) a, (long) b) : (a, b) -> a % b);
    }

    @FunctionalInterface
    interface Condition {
        boolean test(double a, double b);
    }

    static HostTensor compare(NodeContext at, Condition condition) {
        HostTensor result = zip(at, (a, b) -> condition.test(a, b) ? 1 : 0);
        return new HostTensor(true, result.shape(), result.values());
    }

    static HostTensor shape(NodeContext at) {
        long[] sizes = at.in(0).shape().sizes();
        int start = bound(at.node().integer("start", 0), sizes.length);
        int end = bound(at.node().integer("end", sizes.length), sizes.length);
        return HostTensor.of(start >= end ? new long[0] : Arrays.copyOfRange(sizes, start, end));
    }

    private static int bound(long index, int rank) {
        return Math.clamp(index < 0 ? index + rank : index, 0, rank);
    }

    static HostTensor cast(NodeContext at) {
        long to = at.node().integer("to", 1);
        boolean whole = !TensorProto.isFloating(to);
        boolean truth = to == 9;
        HostTensor cast = map(at, x -> truth ? (x == 0 ? 0 : 1) : whole ? (double) (long) x : x);
        return new HostTensor(whole, cast.shape(), cast.values());
    }

    static HostTensor constantOfShape(NodeContext at) {
        double number = at.node().number("value", 0);
        boolean whole = at.node().attributes().get("value") instanceof HostTensor value && value.whole();
        return fill(at, whole, at.shape(at.constant(0).integers()), _ -> number);
    }

    static HostTensor range(NodeContext at) {
        double start = at.number(0);
        double step = at.number(2);
        double count = Math.max(0, Math.ceil((at.number(1) - start) / step));
        if (!(count <= HostTensor.MAX_ELEMENTS)) {
            throw at.error("expected at most " + HostTensor.MAX_ELEMENTS + " elements, found a range of " + count);
        }
        return fill(at, at.constant(0).whole(), Shape.of((long) count), index -> start + index[0] * step);
    }

    static HostTensor where(NodeContext at) {
        HostTensor x = at.constant(1);
        Shape both = at.broadcast(at.in(0).shape(), x.shape());
        Shape shape = at.broadcast(both, at.in(2).shape());
        ToDoubleFunction<long[]> condition = at.constant(0).broadcast(shape);
        ToDoubleFunction<long[]> a = x.broadcast(shape);
        ToDoubleFunction<long[]> b = at.constant(2).broadcast(shape);
        return fill(at, x.whole(), shape, index -> (condition.applyAsDouble(index) != 0 ? a : b).applyAsDouble(index));
    }

    /** Writes updates at the places of which an index has the first coordinates. */
    static HostTensor scatter(NodeContext at) {
        HostTensor data = at.constant(0);
        HostTensor index = at.constant(1);
        int coordinates = (int) index.shape().at(-1);
        long[] strides = HostTensor.strides(data.shape());
        if (coordinates > strides.length || !at.node().text("reduction", "none").equals("none")) {
            throw at.error(
                    "expected at most " + strides.length + " coordinates and no reduction, found " + coordinates);
        }
        at.countFolded(data.values().length);
        int length = coordinates == 0 ? data.values().length : (int) strides[coordinates - 1];
        double[] values = data.values().clone();
        for (int i = 0; coordinates > 0 && i < index.values().length / coordinates; i++) {
            long place = 0;
            for (int k = 0; k < coordinates; k++) {
                long coordinate = (long) index.values()[i * coordinates + k];
                long size = data.shape().at(k);
                if (coordinate < -size || coordinate >= size) {
                    throw at.error("expected an index below " + size + ", found " + coordinate);
                }
                place += strides[k] * (coordinate < 0 ? coordinate + size : coordinate);
            }
            System.arraycopy(at.constant(2).values(), i * length, values, (int) place, length);
        }
        return new HostTensor(data.whole(), data.shape(), values);
    }

    static HostTensor tile(NodeContext at) {
        HostTensor x = at.constant(0);
        long[] sizes = x.shape().sizes();
        long[] repeats = at.constant(1).integers();
        for (int i = 0; i < repeats.length; i++) {
            sizes[i] = Math.multiplyExact(sizes[i], repeats[i]);
        }
        long[] strides = HostTensor.strides(x.shape());
        return fill(at, x.whole(), at.shape(sizes), index -> {
            long[] source = index.clone();
            for (int i = 0; i < source.length; i++) {
                source[i] %= x.shape().at(i);
            }
            return x.at(source, strides);
        });
    }

    /** Reduces over all axes or the given ones. */
    static HostTensor reduce(NodeContext at, DoubleBinaryOperator function) {
        HostTensor x = at.constant(0);
        ShapeOperators.Reduction reduction = ShapeOperators.reduction(at);
        double[] values = fill(at, x.whole(), reduction.kept(), _ -> 0).values();
        boolean[] seen = new boolean[values.length];
        long[] strides = HostTensor.strides(reduction.kept());
        for (int axis : reduction.axes()) {
            strides[axis] = 0;
        }
        long[] own = HostTensor.strides(x.shape());
        fill(at, false, x.shape(), index -> {
            int target = HostTensor.offset(index, strides);
            double element = x.at(index, own);
            values[target] = seen[target] ? function.applyAsDouble(values[target], element) : element;
            seen[target] = true;
            return element;
        });
        return new HostTensor(x.whole(), reduction.result(), values);
    }

    /** Applies the error function, whose series takes up to 100 steps. */
    static HostTensor erf(NodeContext at) {
        at.countFolded(32L * at.constant(0).values().length);
        return map(at, HostMath::erf);
    }

    /** Computes the error function by its Taylor series; constants are small. */
    static double erf(double x) {
        if (Math.abs(x) > 5) {
            return Math.signum(x);
        }
        double term = x;
        double sum = x;
        for (int n = 1; n < 200 && Math.abs(term) > 1e-20; n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }
}
