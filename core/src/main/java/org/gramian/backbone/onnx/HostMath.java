package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.tensor.Shape;

/**
 * Operators on constants: shape arithmetic and folded formulas.
 *
 * <p>Integers divide as in ONNX, rounded toward zero.
 */
final class HostMath {
    /** Operators that can be folded. */
    static final Set<String> OPERATORS =
            Set.of(("Abs Add And Cast Ceil Concat Constant ConstantOfShape Cos Div Equal Erf"
                            + " Exp Expand Flatten Floor Gather Greater GreaterOrEqual Identity Less LessOrEqual Log Max Min Mod"
                            + " Mul Neg Not Or Pow Range Reciprocal ReduceMax ReduceMin ReduceProd ReduceSum Reshape ScatterND Shape"
                            + " Sin Size Slice Split Sqrt Squeeze Sub Tile Transpose Unsqueeze Where")
                    .split(" "));

    private final OnnxNode node;
    private final List<HostTensor> inputs;

    private HostMath(OnnxNode node, List<HostTensor> inputs) {
        this.node = node;
        this.inputs = inputs;
    }

    /**
     * Computes a node.
     *
     * @param inputs values in order; an absent input has 0 elements
     * @return one value for each output
     * @throws IllegalArgumentException if the values do not fit; the message names the node
     */
    static List<HostTensor> fold(OnnxNode node, List<HostTensor> inputs) {
        try {
            HostMath math = new HostMath(node, inputs);
            return node.operator().equals("Split") ? math.split() : List.of(math.value());
        } catch (IndexOutOfBoundsException | ArithmeticException | NegativeArraySizeException problem) {
            throw node.error("impossible constant: " + problem.getMessage());
        }
    }

    private HostTensor value() {
        return switch (node.operator()) {
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
            case "Div" -> in(0).whole() ? zip(HostMath::quotient) : zip((a, b) -> a / b);
            case "Mod" -> in(0).whole() ? zip((a, b) -> Math.floorMod((long) a, (long) b)) : zip((a, b) -> a % b);
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
            case "Identity" -> in(0);
            case "Cast" -> cast();
            case "Constant" -> node.numbers().values().iterator().next();
            case "ConstantOfShape" -> constantOfShape();
            case "Range" -> range();
            case "Where" -> where();
            case "Expand" -> expand(ShapeRules.broadcast(in(0).shape(), shapeOf(in(1)), node));
            case "Reshape", "Flatten", "Squeeze", "Unsqueeze" -> reshape(ShapeRules.reshaped(node, constants()));
            case "Transpose" -> transpose();
            case "Gather" -> gather();
            case "Concat" -> concat();
            case "Slice" -> slice();
            case "ScatterND" -> scatter();
            case "Tile" -> tile();
            case "ReduceProd" -> reduce((a, b) -> a * b);
            case "ReduceSum" -> reduce((a, b) -> a + b);
            case "ReduceMax" -> reduce(Math::max);
            case "ReduceMin" -> reduce(Math::min);
            default -> throw node.error("expected data that depends on the image, found constants only");
        };
    }

    private HostTensor in(int i) {
        if (i >= inputs.size()) {
            throw node.error("expected at least " + (i + 1) + " inputs, found " + inputs.size());
        }
        return inputs.get(i);
    }

    private List<Operand> constants() {
        return inputs.stream().map(Operand::of).toList();
    }

    private Shape shapeOf(HostTensor sizes) {
        return ShapeRules.shape(node, sizes.longs());
    }

    private static double quotient(double a, double b) {
        long whole = (long) a / (long) b;
        return (double) whole;
    }

    private HostTensor map(DoubleUnaryOperator function) {
        HostTensor x = in(0);
        return new HostTensor(
                x.whole(), x.shape(), Arrays.stream(x.values()).map(function).toArray());
    }

    private HostTensor zip(DoubleBinaryOperator function) {
        HostTensor result = in(0);
        for (int i = 1; i < Math.max(2, inputs.size()); i++) {
            result = zip(result, in(i), function);
        }
        return result;
    }

    private HostTensor zip(HostTensor a, HostTensor b, DoubleBinaryOperator function) {
        Shape shape = ShapeRules.broadcast(a.shape(), b.shape(), node);
        double[] left = expand(a, shape);
        double[] right = expand(b, shape);
        double[] values = new double[left.length];
        Arrays.setAll(values, i -> function.applyAsDouble(left[i], right[i]));
        return new HostTensor(a.whole() && b.whole(), shape, values);
    }

    private HostTensor compare(DoubleBinaryOperator function) {
        HostTensor result = zip(in(0), in(1), function);
        return new HostTensor(true, result.shape(), result.values());
    }

    private HostTensor cast() {
        long to = node.whole("to", 1);
        boolean whole = to != 1 && to != 10 && to != 11 && to != 16;
        boolean truth = to == 9;
        double[] values = Arrays.stream(in(0).values())
                .map(x -> truth ? (x == 0 ? 0 : 1) : whole ? (double) (long) x : x)
                .toArray();
        return new HostTensor(whole, in(0).shape(), values);
    }

    private HostTensor constantOfShape() {
        HostTensor value = node.numbers().getOrDefault("value", HostTensor.scalar(false, 0));
        if (value.values().length != 1) {
            throw node.error("expected one number as the value, found " + value);
        }
        Shape shape = shapeOf(in(0));
        double[] values = new double[count(shape)];
        Arrays.fill(values, value.values()[0]);
        return new HostTensor(value.whole(), shape, values);
    }

    private HostTensor range() {
        double start = number(0);
        double step = number(2);
        double count = Math.max(0, Math.ceil((number(1) - start) / step));
        if (!(count <= HostTensor.MAX_ELEMENTS)) {
            throw node.error("expected at most " + HostTensor.MAX_ELEMENTS + " elements, found a range of " + count);
        }
        double[] values = new double[(int) count];
        Arrays.setAll(values, i -> start + i * step);
        return new HostTensor(in(0).whole(), Shape.of(values.length), values);
    }

    private double number(int i) {
        if (in(i).values().length != 1) {
            throw node.error("expected one number as input " + i + ", found " + in(i));
        }
        return in(i).values()[0];
    }

    private HostTensor where() {
        Shape shape =
                ShapeRules.broadcast(ShapeRules.broadcast(in(0).shape(), in(1).shape(), node), in(2).shape(), node);
        double[] condition = expand(in(0), shape);
        double[] a = expand(in(1), shape);
        double[] b = expand(in(2), shape);
        double[] values = new double[a.length];
        Arrays.setAll(values, i -> condition[i] != 0 ? a[i] : b[i]);
        return new HostTensor(in(1).whole(), shape, values);
    }

    private HostTensor expand(Shape shape) {
        return new HostTensor(in(0).whole(), shape, expand(in(0), shape));
    }

    private HostTensor reshape(Shape shape) {
        return new HostTensor(in(0).whole(), shape, in(0).values());
    }

    /** Repeats the elements of a tensor to a shape that it broadcasts to. */
    private double[] expand(HostTensor x, Shape shape) {
        if (x.shape().equals(shape)) {
            return x.values();
        }
        long[] strides = new long[shape.rank()];
        long[] own = strides(x.shape());
        for (int i = 1; i <= x.shape().rank(); i++) {
            strides[shape.rank() - i] = x.shape().at(-i) == 1 ? 0 : own[own.length - i];
        }
        return gathered(x, shape, strides);
    }

    /** Returns the elements at {@code Σ index·stride} for every index of a shape. */
    private double[] gathered(HostTensor x, Shape shape, long[] strides) {
        double[] values = new double[count(shape)];
        long[] sizes = shape.sizes();
        long[] index = new long[sizes.length];
        long place = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = x.values()[(int) place];
            for (int d = sizes.length - 1; d >= 0; d--) {
                place += strides[d];
                if (++index[d] < sizes[d]) {
                    break;
                }
                place -= strides[d] * sizes[d];
                index[d] = 0;
            }
        }
        return values;
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

    private int count(Shape shape) {
        if (shape.elements() > HostTensor.MAX_ELEMENTS) {
            throw node.error("expected a constant of at most " + HostTensor.MAX_ELEMENTS + " elements, found the shape "
                    + shape);
        }
        return (int) shape.elements();
    }

    private HostTensor transpose() {
        int[] order = ShapeRules.permutation(node, in(0).shape().rank());
        long[] own = strides(in(0).shape());
        long[] strides = IntStream.of(order).mapToLong(i -> own[i]).toArray();
        Shape shape = ShapeRules.permuted(in(0).shape(), order);
        return new HostTensor(in(0).whole(), shape, gathered(in(0), shape, strides));
    }

    private HostTensor gather() {
        int axis = ShapeRules.axis(node, node.whole("axis", 0), in(0).shape().rank());
        long size = in(0).shape().at(axis);
        long[] places =
                Arrays.stream(in(1).longs()).map(i -> i < 0 ? i + size : i).toArray();
        HostTensor taken = take(axis, places);
        return new HostTensor(in(0).whole(), ShapeRules.gathered(in(0).shape(), axis, in(1).shape()), taken.values());
    }

    /** Returns the entries at places along an axis. */
    private HostTensor take(int axis, long[] places) {
        Shape shape = in(0).shape().with(axis, places.length);
        count(shape);
        long size = in(0).shape().at(axis);
        int inner = (int) LongStream.range(axis + 1, in(0).shape().rank())
                .map(i -> in(0).shape().at((int) i))
                .reduce(1, (a, b) -> a * b);
        double[] values = new double[(int) shape.elements()];
        int outer = inner * places.length == 0 ? 0 : values.length / (inner * places.length);
        for (int o = 0; o < outer; o++) {
            for (int p = 0; p < places.length; p++) {
                if (places[p] < 0 || places[p] >= size) {
                    throw node.error("expected an index below " + size + ", found " + places[p]);
                }
                System.arraycopy(
                        in(0).values(),
                        (int) (o * size + places[p]) * inner,
                        values,
                        (o * places.length + p) * inner,
                        inner);
            }
        }
        return new HostTensor(in(0).whole(), shape, values);
    }

    private HostTensor slice() {
        HostTensor result = in(0);
        for (ShapeRules.Range range : ShapeRules.ranges(node, in(0).shape(), constants())) {
            result = new HostMath(node, List.of(result)).take(range.axis(), range.places());
        }
        return result;
    }

    private List<HostTensor> split() {
        int axis = ShapeRules.axis(node, node.whole("axis", 0), in(0).shape().rank());
        long start = 0;
        List<HostTensor> parts = new ArrayList<>();
        for (long size : ShapeRules.parts(node, in(0).shape().at(axis), constants())) {
            parts.add(take(axis, LongStream.range(start, start + size).toArray()));
            start += size;
        }
        return parts;
    }

    private HostTensor concat() {
        int axis = ShapeRules.axis(node, node.whole("axis", 0), in(0).shape().rank());
        Shape shape = ShapeRules.concatenated(
                node, inputs.stream().map(HostTensor::shape).toList(), axis);
        double[] values = new double[count(shape)];
        int inner = 1;
        for (int i = axis + 1; i < shape.rank(); i++) {
            inner *= (int) shape.at(i);
        }
        int row = (int) shape.at(axis) * inner;
        int start = 0;
        for (HostTensor part : inputs) {
            int length = (int) part.shape().at(axis) * inner;
            for (int o = 0; length > 0 && o < part.values().length / length; o++) {
                System.arraycopy(part.values(), o * length, values, o * row + start, length);
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
        if (coordinates > strides.length || !node.text("reduction", "none").equals("none")) {
            throw node.error(
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
                    throw node.error("expected an index below " + size + ", found " + coordinate);
                }
                place += strides[k] * (coordinate < 0 ? coordinate + size : coordinate);
            }
            System.arraycopy(in(2).values(), i * length, values, (int) place, length);
        }
        return new HostTensor(data.whole(), data.shape(), values);
    }

    private HostTensor tile() {
        HostTensor result = in(0);
        long[] repeats = in(1).longs();
        for (int axis = 0; axis < repeats.length; axis++) {
            long size = result.shape().at(axis);
            long times = repeats[axis];
            count(result.shape().with(axis, Math.multiplyExact(size, times)));
            long[] places = LongStream.range(0, size * times).map(i -> i % size).toArray();
            result = new HostMath(node, List.of(result)).take(axis, places);
        }
        return result;
    }

    /** Reduces over all axes or the given ones. */
    private HostTensor reduce(DoubleBinaryOperator function) {
        ShapeRules.Reduction reduction = ShapeRules.reduction(node, in(0).shape(), constants());
        double[] values = new double[count(reduction.kept())];
        boolean[] seen = new boolean[values.length];
        long[] strides = strides(reduction.kept());
        for (int axis : reduction.axes()) {
            strides[axis] = 0;
        }
        HostTensor places = new HostTensor(
                true,
                reduction.kept(),
                IntStream.range(0, values.length).mapToDouble(i -> i).toArray());
        double[] targets = gathered(places, in(0).shape(), strides);
        for (int i = 0; i < targets.length; i++) {
            int target = (int) targets[i];
            values[target] =
                    seen[target] ? function.applyAsDouble(values[target], in(0).values()[i]) : in(0).values()[i];
            seen[target] = true;
        }
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
