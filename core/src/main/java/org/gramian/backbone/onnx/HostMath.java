package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.tensor.Shape;

/**
 * Operators on constants: shape arithmetic and folded formulas.
 *
 * <p>Integers divide as in ONNX, rounded toward zero.
 */
final class HostMath {
    private static final Set<String> OPERATORS =
            Set.of(("Abs Add And Cast Ceil Concat Constant ConstantOfShape Cos Div Equal Erf Exp Expand Flatten Floor"
                            + " Gather Greater GreaterOrEqual Identity Less LessOrEqual Log Max Min Mod Mul Neg Not Or Pow Range"
                            + " Reciprocal ReduceMax ReduceMin ReduceProd ReduceSum Reshape ScatterND Shape Sin Size Slice Split"
                            + " Sqrt Squeeze Sub Tile Transpose Unsqueeze Where")
                    .split(" "));

    private final NodeContext at;
    private long work;

    private HostMath(NodeContext at) {
        this.at = at;
    }

    static boolean isSupported(String operator) {
        return OPERATORS.contains(operator);
    }

    /**
     * Computes a node with constant inputs; an absent input has 0 elements.
     *
     * @return one value for each output
     * @throws IllegalArgumentException if the values do not fit; the message names the node
     */
    static List<HostTensor> fold(NodeContext at) {
        try {
            HostMath math = new HostMath(at);
            return at.node().operator().equals("Split") ? math.split() : List.of(math.value());
        } catch (IndexOutOfBoundsException | ArithmeticException | NegativeArraySizeException problem) {
            throw at.error("impossible constant: " + problem.getMessage());
        }
    }

    private HostTensor value() {
        return switch (at.node().operator()) {
            case "Abs" -> map(Math::abs);
            case "Ceil" -> map(Math::ceil);
            case "Cos" -> map(Math::cos);
            case "Erf" -> map(HostMath::erf);
            case "Exp" -> map(Math::exp);
            case "Floor" -> map(Math::floor);
            case "Log" -> map(Math::log);
            case "Neg" -> map(x -> -x);
            case "Not" -> map(x -> x == 0 ? 1 : 0);
            case "Reciprocal" -> map(x -> 1 / x);
            case "Sin" -> map(Math::sin);
            case "Sqrt" -> map(Math::sqrt);
            case "Add" -> zip((a, b) -> a + b);
            case "Sub" -> zip((a, b) -> a - b);
            case "Mul" -> zip((a, b) -> a * b);
            case "Div" ->
                zip(in(0).whole() ? (a, b) -> (double) Math.divideExact((long) a, (long) b) : (a, b) -> a / b);
            case "Mod" -> zip(in(0).whole() ? (a, b) -> Math.floorMod((long) a, (long) b) : (a, b) -> a % b);
            case "Pow" -> zip(Math::pow);
            case "Max" -> zip(Math::max);
            case "Min" -> zip(Math::min);
            case "Equal" -> compare((a, b) -> a == b ? 1 : 0);
            case "Greater" -> compare((a, b) -> a > b ? 1 : 0);
            case "GreaterOrEqual" -> compare((a, b) -> a >= b ? 1 : 0);
            case "Less" -> compare((a, b) -> a < b ? 1 : 0);
            case "LessOrEqual" -> compare((a, b) -> a <= b ? 1 : 0);
            case "And" -> compare((a, b) -> a != 0 && b != 0 ? 1 : 0);
            case "Or" -> compare((a, b) -> a != 0 || b != 0 ? 1 : 0);
            case "ReduceProd" -> reduce((a, b) -> a * b);
            case "ReduceSum" -> reduce(Double::sum);
            case "ReduceMax" -> reduce(Math::max);
            case "ReduceMin" -> reduce(Math::min);
            case "Identity" -> in(0);
            case "Constant" ->
                (HostTensor) at.node().attributes().values().iterator().next();
            case "Size" -> HostTensor.integer(at.in(0).shape().elements());
            case "Reshape", "Flatten", "Squeeze", "Unsqueeze" ->
                new HostTensor(in(0).whole(), ShapeRules.reshaped(at), in(0).values());
            case "Shape" -> shape();
            case "Cast" -> cast();
            case "ConstantOfShape" -> constantOfShape();
            case "Range" -> range();
            case "Where" -> where();
            case "Expand" -> expand();
            case "Transpose" -> transpose();
            case "Gather" -> gather();
            case "Concat" -> concat();
            case "Slice" -> slice();
            case "ScatterND" -> scatter();
            case "Tile" -> tile();
            default -> throw at.error("expected data that depends on the image, found constants only");
        };
    }

    private HostTensor in(int i) {
        at.in(i);
        return at.constant(i);
    }

    /** Returns an input at an index of a shape that it broadcasts to. */
    private ToDoubleFunction<long[]> broadcast(HostTensor x, Shape shape) {
        long[] own = strides(x.shape());
        long[] strides = new long[shape.rank()];
        for (int i = 1; i <= own.length; i++) {
            strides[shape.rank() - i] = x.shape().at(-i) == 1 ? 0 : own[own.length - i];
        }
        return index -> x.values()[place(index, strides)];
    }

    private static int place(long[] index, long[] strides) {
        long place = 0;
        for (int i = 0; i < index.length; i++) {
            place += index[i] * strides[i];
        }
        return Math.toIntExact(place);
    }

    private static long[] strides(Shape shape) {
        long[] strides = new long[shape.rank()];
        long step = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            strides[i] = step;
            step *= shape.at(i);
        }
        return strides;
    }

    /** Returns a tensor of values by index. */
    private HostTensor fill(boolean whole, Shape shape, ToDoubleFunction<long[]> value) {
        double[] values = new double[count(shape)];
        long[] index = new long[shape.rank()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value.applyAsDouble(index);
            for (int d = index.length - 1; d >= 0 && ++index[d] == shape.at(d); d--) {
                index[d] = 0;
            }
        }
        return new HostTensor(whole, shape, values);
    }

    private int count(Shape shape) {
        if (shape.elements() > HostTensor.MAX_ELEMENTS) {
            throw at.error("expected a constant of at most " + HostTensor.MAX_ELEMENTS + " elements, found the shape "
                    + shape);
        }
        work += shape.elements();
        if (work > Plan.MAX_FOLDED_ELEMENTS) {
            throw at.error("expected a constant of at most " + Plan.MAX_FOLDED_ELEMENTS + " steps, found " + work);
        }
        return (int) shape.elements();
    }

    private HostTensor map(DoubleUnaryOperator function) {
        HostTensor x = in(0);
        return new HostTensor(
                x.whole(), x.shape(), Arrays.stream(x.values()).map(function).toArray());
    }

    private HostTensor zip(DoubleBinaryOperator function) {
        HostTensor result = in(0);
        for (int i = 1; i < Math.max(2, at.inputs().size()); i++) {
            result = zip(result, in(i), function);
        }
        return result;
    }

    private HostTensor zip(HostTensor a, HostTensor b, DoubleBinaryOperator function) {
        Shape shape = ShapeRules.broadcast(at.node(), a.shape(), b.shape());
        ToDoubleFunction<long[]> left = broadcast(a, shape);
        ToDoubleFunction<long[]> right = broadcast(b, shape);
        return fill(
                a.whole() && b.whole(),
                shape,
                index -> function.applyAsDouble(left.applyAsDouble(index), right.applyAsDouble(index)));
    }

    private HostTensor compare(DoubleBinaryOperator function) {
        HostTensor result = zip(in(0), in(1), function);
        return new HostTensor(true, result.shape(), result.values());
    }

    private HostTensor shape() {
        long[] sizes = at.in(0).shape().sizes();
        int start = bound(at.node().integer("start", 0), sizes.length);
        int end = bound(at.node().integer("end", sizes.length), sizes.length);
        return HostTensor.of(start >= end ? new long[0] : Arrays.copyOfRange(sizes, start, end));
    }

    private static int bound(long index, int rank) {
        return Math.clamp(index < 0 ? index + rank : index, 0, rank);
    }

    private HostTensor cast() {
        long to = at.node().integer("to", 1);
        boolean whole = !TensorProto.isFloating(to);
        boolean truth = to == 9;
        double[] values = Arrays.stream(in(0).values())
                .map(x -> truth ? (x == 0 ? 0 : 1) : whole ? (double) (long) x : x)
                .toArray();
        return new HostTensor(whole, in(0).shape(), values);
    }

    private HostTensor constantOfShape() {
        double number = at.node().number("value", 0);
        boolean whole = at.node().attributes().get("value") instanceof HostTensor value && value.whole();
        return fill(whole, ShapeRules.shape(at.node(), in(0).integers()), _ -> number);
    }

    private HostTensor range() {
        double start = at.number(0);
        double step = at.number(2);
        double count = Math.max(0, Math.ceil((at.number(1) - start) / step));
        if (!(count <= HostTensor.MAX_ELEMENTS)) {
            throw at.error("expected at most " + HostTensor.MAX_ELEMENTS + " elements, found a range of " + count);
        }
        return fill(in(0).whole(), Shape.of((long) count), index -> start + index[0] * step);
    }

    private HostTensor where() {
        Shape both = ShapeRules.broadcast(at.node(), in(0).shape(), in(1).shape());
        Shape shape = ShapeRules.broadcast(at.node(), both, in(2).shape());
        ToDoubleFunction<long[]> condition = broadcast(in(0), shape);
        ToDoubleFunction<long[]> a = broadcast(in(1), shape);
        ToDoubleFunction<long[]> b = broadcast(in(2), shape);
        return fill(in(1).whole(), shape, index -> (condition.applyAsDouble(index) != 0 ? a : b).applyAsDouble(index));
    }

    private HostTensor expand() {
        Shape wanted = ShapeRules.shape(at.node(), in(1).integers());
        Shape shape = ShapeRules.broadcast(at.node(), in(0).shape(), wanted);
        return fill(in(0).whole(), shape, broadcast(in(0), shape));
    }

    private HostTensor transpose() {
        int[] order = ShapeRules.permutation(at);
        long[] own = strides(in(0).shape());
        long[] strides = IntStream.of(order).mapToLong(i -> own[i]).toArray();
        return fill(
                in(0).whole(),
                ShapeRules.permuted(in(0).shape(), order),
                index -> in(0).values()[place(index, strides)]);
    }

    private HostTensor gather() {
        int axis = at.axis(0);
        HostTensor taken = take(in(0), axis, ShapeRules.indexes(at, axis));
        return new HostTensor(in(0).whole(), ShapeRules.gathered(in(0).shape(), axis, in(1).shape()), taken.values());
    }

    /** Returns the entries at indexes of an axis. */
    private HostTensor take(HostTensor x, int axis, long[] indexes) {
        long[] strides = strides(x.shape());
        return fill(x.whole(), x.shape().with(axis, indexes.length), index -> {
            long[] source = index.clone();
            source[axis] = indexes[(int) index[axis]];
            return x.values()[place(source, strides)];
        });
    }

    private HostTensor slice() {
        HostTensor result = in(0);
        for (ShapeRules.Range range : ShapeRules.ranges(at)) {
            result = take(result, range.axis(), range.indexes());
        }
        return result;
    }

    private List<HostTensor> split() {
        long start = 0;
        List<HostTensor> parts = new ArrayList<>();
        for (long size : ShapeRules.parts(at)) {
            parts.add(take(
                    in(0), at.axis(0), LongStream.range(start, start + size).toArray()));
            start += size;
        }
        return parts;
    }

    private HostTensor concat() {
        int axis = at.axis(0);
        Shape shape = ShapeRules.concatenated(at, axis);
        double[] values = new double[count(shape)];
        int inner = (int) strides(shape)[axis];
        int row = (int) shape.at(axis) * inner;
        int start = 0;
        for (int i = 0; i < at.inputs().size(); i++) {
            double[] part = in(i).values();
            int length = (int) in(i).shape().at(axis) * inner;
            for (int outer = 0; length > 0 && outer < part.length / length; outer++) {
                System.arraycopy(part, outer * length, values, outer * row + start, length);
            }
            start += length;
        }
        return new HostTensor(in(0).whole(), shape, values);
    }

    /** Writes updates at the places of which an index has the first coordinates. */
    private HostTensor scatter() {
        HostTensor data = in(0);
        HostTensor index = in(1);
        int coordinates = (int) index.shape().at(-1);
        long[] strides = strides(data.shape());
        if (coordinates > strides.length || !at.node().text("reduction", "none").equals("none")) {
            throw at.error(
                    "expected at most " + strides.length + " coordinates and no reduction, found " + coordinates);
        }
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
            System.arraycopy(in(2).values(), i * length, values, (int) place, length);
        }
        return new HostTensor(data.whole(), data.shape(), values);
    }

    private HostTensor tile() {
        HostTensor x = in(0);
        long[] sizes = x.shape().sizes();
        long[] repeats = in(1).integers();
        for (int i = 0; i < repeats.length; i++) {
            sizes[i] = Math.multiplyExact(sizes[i], repeats[i]);
        }
        long[] strides = strides(x.shape());
        return fill(x.whole(), ShapeRules.shape(at.node(), sizes), index -> {
            long[] source = index.clone();
            for (int i = 0; i < source.length; i++) {
                source[i] %= x.shape().at(i);
            }
            return x.values()[place(source, strides)];
        });
    }

    /** Reduces over all axes or the given ones. */
    private HostTensor reduce(DoubleBinaryOperator function) {
        ShapeRules.Reduction reduction = ShapeRules.reduction(at);
        double[] values = new double[count(reduction.kept())];
        boolean[] seen = new boolean[values.length];
        long[] strides = strides(reduction.kept());
        for (int axis : reduction.axes()) {
            strides[axis] = 0;
        }
        ToDoubleFunction<long[]> elements = broadcast(in(0), in(0).shape());
        fill(false, in(0).shape(), index -> {
            int target = place(index, strides);
            double element = elements.applyAsDouble(index);
            values[target] = seen[target] ? function.applyAsDouble(values[target], element) : element;
            seen[target] = true;
            return element;
        });
        return new HostTensor(in(0).whole(), reduction.result(), values);
    }

    /** Computes the error function by its Taylor series; constants are small. */
    private static double erf(double x) {
        if (Math.abs(x) > 5) {
            return Math.signum(x);
        }
        double term = x;
        double sum = x;
        for (int n = 1; n < 200; n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return 2 / Math.sqrt(Math.PI) * sum;
    }
}
