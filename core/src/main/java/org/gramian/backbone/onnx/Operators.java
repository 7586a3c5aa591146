package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Tokens;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Supported operators of ONNX: each computes constants at once, binds a function on the tape to the shapes of data, or does
 * both. Here are the table, element-wise functions and matrix products.
 */
final class Operators {
    private record Rule(Function<NodeContext, BoundOperator> constants, Function<NodeContext, BoundOperator> data) {}

    private static final Map<String, Rule> ALL = new TreeMap<>();

    static {
        function("Abs", Math::abs, Var::abs);
        both("Erf", HostMath::erf, at -> at.map(at.in(0), Var::erf));
        function("Exp", Math::exp, Var::exp);
        function("Identity", x -> x, x -> x);
        function("Log", Math::log, Var::log);
        function("Neg", x -> -x, x -> x.mul(-1));
        function("Reciprocal", x -> 1 / x, x -> x.pow(-1));
        function("Sqrt", Math::sqrt, Var::sqrt);
        constants("Ceil", at -> HostMath.map(at, Math::ceil));
        constants("Cos", at -> HostMath.map(at, Math::cos));
        constants("Floor", at -> HostMath.map(at, Math::floor));
        constants("Not", at -> HostMath.map(at, x -> x == 0 ? 1 : 0));
        constants("Sin", at -> HostMath.map(at, Math::sin));
        data("Dropout", at -> at.map(at.in(0), x -> x));
        data("Tanh", at -> at.map(at.in(0), Var::tanh));
        data("Relu", at -> activate(at, Activation.RELU));
        data("Sigmoid", at -> activate(at, Activation.SIGMOID));
        data("HardSwish", at -> activate(at, Activation.HARD_SWISH));
        data(Fusion.SILU, at -> activate(at, Activation.SILU));
        data("HardSigmoid", Operators::hardSigmoid);
        data("LeakyRelu", Operators::leakyRelu);
        data("Clip", Operators::clip);
        data("Gelu", Operators::gelu);
        both("Cast", HostMath::cast, Operators::cast);

        both("Add", zip(Double::sum), at -> binary(at, Operators::add, Var::add, Var::add));
        both(
                "Sub",
                zip((a, b) -> a - b),
                at -> binary(
                        at, Var::sub, (x, c) -> x.add(-c), (x, c) -> x.mul(-1).add(c)));
        both("Mul", zip((a, b) -> a * b), at -> binary(at, Var::mul, Var::mul, Var::mul));
        both(
                "Div",
                HostMath::divide,
                at -> binary(
                        at,
                        Var::div,
                        (x, c) -> x.mul(1 / c),
                        (x, c) -> x.pow(-1).mul(c)));
        both("Pow", zip(Math::pow), Operators::pow);
        both("Where", HostMath::where, Operators::where);
        data("Sum", Operators::sum);
        data(Fusion.ADD, Operators::fusedAdd);
        constants("Mod", HostMath::modulo);
        constants("Max", zip(Math::max));
        constants("Min", zip(Math::min));
        constants("Equal", at -> HostMath.compare(at, (a, b) -> a == b));
        constants("Greater", at -> HostMath.compare(at, (a, b) -> a > b));
        constants("GreaterOrEqual", at -> HostMath.compare(at, (a, b) -> a >= b));
        constants("Less", at -> HostMath.compare(at, (a, b) -> a < b));
        constants("LessOrEqual", at -> HostMath.compare(at, (a, b) -> a <= b));
        constants("And", at -> HostMath.compare(at, (a, b) -> a != 0 && b != 0));
        constants("Or", at -> HostMath.compare(at, (a, b) -> a != 0 || b != 0));

        data("MatMul", Operators::matmul);
        data("Gemm", Operators::gemm);
        data(Fusion.LINEAR, Operators::linear);
        data(Fusion.ATTENTION, Operators::attention);
        data("Softmax", Operators::softmax);
        data("LayerNormalization", Operators::layerNorm);

        constants("ReduceMax", at -> HostMath.reduce(at, Math::max));
        constants("ReduceMin", at -> HostMath.reduce(at, Math::min));
        constants("ReduceProd", at -> HostMath.reduce(at, (a, b) -> a * b));
        both("ReduceSum", at -> HostMath.reduce(at, Double::sum), at -> ShapeOperators.reduce(at, false));
        data("ReduceMean", at -> ShapeOperators.reduce(at, true));

        constants("Constant", Operators::value);
        constants("ConstantOfShape", HostMath::constantOfShape);
        constants("Range", HostMath::range);
        constants("ScatterND", HostMath::scatter);
        constants("Tile", HostMath::tile);
        shape("Shape", at -> at.constants(HostMath.shape(at)));
        shape("Size", at -> at.constants(HostTensor.integer(at.in(0).shape().elements())));
        shape("Reshape", ShapeOperators::reshape);
        shape("Flatten", ShapeOperators::flatten);
        shape("Squeeze", ShapeOperators::squeeze);
        shape("Unsqueeze", ShapeOperators::unsqueeze);
        shape("Transpose", ShapeOperators::transpose);
        shape("Expand", ShapeOperators::expand);
        shape("Concat", ShapeOperators::concat);
        shape("Slice", ShapeOperators::slice);
        shape("Split", ShapeOperators::split);
        shape("Gather", ShapeOperators::gather);

        data("Conv", MapOperators::convolution);
        data(Fusion.CONV, MapOperators::convolution);
        data("BatchNormalization", MapOperators::batchNorm);
        data("LRN", MapOperators::responseNorm);
        data("MaxPool", MapOperators::maxPool);
        data("AveragePool", MapOperators::averagePool);
        data("GlobalAveragePool", at -> MapOperators.global(at, false));
        data("GlobalMaxPool", at -> MapOperators.global(at, true));
        data("Pad", MapOperators::pad);
        data("Resize", MapOperators::resize);
    }

    private Operators() {}

    private static void function(String name, DoubleUnaryOperator constants, UnaryOperator<Var> data) {
        both(name, at -> HostMath.map(at, constants), at -> at.map(at.in(0), data));
    }

    private static void both(
            String name, Function<NodeContext, HostTensor> constants, Function<NodeContext, BoundOperator> data) {
        ALL.put(name, new Rule(at -> at.constants(constants.apply(at)), data));
    }

    private static void constants(String name, Function<NodeContext, HostTensor> constants) {
        both(name, constants, at -> {
            throw at.error("expected constant inputs, found data that depends on the image");
        });
    }

    private static void data(String name, Function<NodeContext, BoundOperator> data) {
        Function<NodeContext, BoundOperator> refused = at -> {
            throw at.error("expected data that depends on the image, found constants only");
        };
        ALL.put(name, new Rule(refused, data));
    }

    private static void shape(String name, Function<NodeContext, BoundOperator> operator) {
        ALL.put(name, new Rule(operator, operator));
    }

    private static Function<NodeContext, HostTensor> zip(DoubleBinaryOperator function) {
        return at -> HostMath.zip(at, function);
    }

    private static HostTensor value(NodeContext at) {
        return (HostTensor) at.node().attributes().values().iterator().next();
    }

    static void requireSupported(List<OnnxNode> nodes) {
        for (OnnxNode node : nodes) {
            if (!ALL.containsKey(node.operator())) {
                List<String> known = ALL.keySet().stream()
                        .filter(name -> !name.startsWith(Fusion.PREFIX))
                        .toList();
                throw node.error(
                        "the operator " + QuotedText.bare(node.operator()) + " is not supported; cut the network"
                                + " before it, or export without it (opset_version=17). Supported: "
                                + String.join(", ", known));
            }
        }
    }

    /** Computes constants, or binds an operator to the shapes of its inputs. */
    static BoundOperator bind(NodeContext at) {
        Rule rule = ALL.get(at.node().operator());
        if (rule == null) {
            throw at.error("expected a supported operator");
        }
        boolean constant = at.isConstant();
        if (constant) {
            at.inputs().forEach(input -> at.countFolded(input.shape().elements()));
        }
        try {
            BoundOperator bound = (constant ? rule.constants : rule.data).apply(at);
            for (Operand output : bound.outputs()) {
                if (output.constant() == null
                        && at.shape(output.shape().sizes()).elements() == 0) {
                    throw at.error("the result " + output.shape() + " is empty: the images are too small");
                }
            }
            return bound;
        } catch (IndexOutOfBoundsException | ArithmeticException | NegativeArraySizeException problem) {
            throw at.error("impossible sizes: " + problem.getMessage());
        }
    }

    private static BoundOperator activate(NodeContext at, Activation activation) {
        return at.map(at.in(0), x -> x.activate(activation));
    }

    private static BoundOperator hardSigmoid(NodeContext at) {
        double alpha = at.node().number("alpha", 0.2);
        double beta = at.node().number("beta", 0.5);
        return Math.abs(alpha - 1 / 6.0) < 1e-6 && beta == 0.5
                ? activate(at, Activation.HARD_SIGMOID)
                : at.map(at.in(0), x -> x.mul(alpha).add(beta).clip(0, 1));
    }

    private static BoundOperator leakyRelu(NodeContext at) {
        double slope = at.node().number("alpha", 0.01);
        return at.map(at.in(0), x -> x.leakyRelu(slope));
    }

    private static BoundOperator clip(NodeContext at) {
        double low = at.number(1, Double.NEGATIVE_INFINITY);
        double high = at.number(2, Double.POSITIVE_INFINITY);
        Activation known = Fusion.clamp(low, high);
        return known != Activation.NONE ? activate(at, known) : at.map(at.in(0), x -> x.clip(low, high));
    }

    private static BoundOperator gelu(NodeContext at) {
        Gelu form = at.node().text("approximate", "none").equals("tanh") ? Gelu.TANH : Gelu.ERF;
        return at.map(at.in(0), x -> Tokens.gelu(x, form));
    }

    /** Data keeps its type: a cast between floating-point types has no effect. */
    private static BoundOperator cast(NodeContext at) {
        long to = at.node().integer("to", 1);
        if (!TensorProto.isFloating(to)) {
            throw at.error("expected a floating-point type for data, found the ONNX type " + to);
        }
        return at.map(at.in(0), x -> x);
    }

    /** Function of two tensors, with forms for a number as the second input and as the first. */
    private static BoundOperator binary(
            NodeContext at,
            BinaryOperator<Var> function,
            BiFunction<Var, Double, Var> second,
            BiFunction<Var, Double, Var> first) {
        Operand result = broadcast(at, at.in(0), at.in(1));
        Double c = scalar(at.in(1), at.in(0));
        if (c != null) {
            return at.map(result, x -> second.apply(x, c));
        }
        Double d = scalar(at.in(0), at.in(1));
        if (d != null) {
            return at.of(result, in -> first.apply(in.get(1), d));
        }
        boolean swapped = !at.in(0).data() && at.in(1).data(); // the data gives the type
        return at.of(result, in -> {
            Var a = swapped ? in.like(0, in.get(1)) : in.get(0);
            return function.apply(a, in.like(1, a));
        });
    }

    /**
     * Computes {@code a + b}. Of tokens a permuted view comes second: libtorch gives a sum the memory order of its first operand,
     * and the residual stream of a transformer with sequence-first attention would be copied by each layer norm.
     */
    private static Var add(Var a, Var b) {
        boolean permuted = a.shape().rank() == 3
                && a.shape().equals(b.shape())
                && !a.value().isContiguous()
                && b.value().isContiguous();
        return permuted ? b.add(a) : a.add(b);
    }

    private static @Nullable Double scalar(Operand number, Operand other) {
        HostTensor constant = number.constant();
        return constant != null && constant.values().length == 1 && number.rank() <= other.rank()
                ? (Double) constant.values()[0]
                : null;
    }

    private static Operand broadcast(NodeContext at, Operand a, Operand b) {
        return to(at.broadcast(a.shape(), b.shape()), a, b);
    }

    /** Returns a result of two inputs, which have their last dimensions in common with it. */
    private static Operand to(Shape shape, Operand a, Operand b) {
        Operand leading = a.data() ? a : b;
        return leading.to(shape, leading.batch() + shape.rank() - leading.rank());
    }

    private static BoundOperator pow(NodeContext at) {
        double exponent = at.number(1);
        return at.map(at.in(0), exponent == 2 ? x -> x.mul(x) : x -> x.pow(exponent));
    }

    private static BoundOperator sum(NodeContext at) {
        Operand result = at.in(0);
        for (Operand next : at.inputs()) {
            result = broadcast(at, result, next);
        }
        return at.of(result, in -> {
            Var sum = in.get(0);
            for (int i = 1; i < at.inputs().size(); i++) {
                sum = sum.add(in.like(i, sum));
            }
            return sum;
        });
    }

    private static BoundOperator fusedAdd(NodeContext at) {
        Activation activation = Fusion.activation(at.node());
        return at.of(
                broadcast(at, at.in(0), at.in(1)),
                in -> in.get(0).add(in.like(1, in.get(0))).activate(activation));
    }

    private static BoundOperator where(NodeContext at) {
        at.constant(0);
        Operand result = broadcast(at, broadcast(at, at.in(1), at.in(2)), at.in(0));
        return at.of(result, in -> Var.where(in.constant(0, DType.BOOL), in.get(1), in.like(2, in.get(1))));
    }

    private static BoundOperator matmul(NodeContext at) {
        Operand a = at.in(0);
        Operand b = at.in(1);
        if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-2)) {
            throw at.error("expected matrices [.., a, b] and [.., b, c], found " + a.shape() + " and " + b.shape());
        }
        Shape batch = at.broadcast(
                a.shape().with(-1, 1).with(-2, 1), b.shape().with(-1, 1).with(-2, 1));
        Operand result =
                to(at.shape(batch.with(-2, a.size(-2)).with(-1, b.size(-1)).sizes()), a, b);
        boolean weighted = b.rank() == 2 && !b.data();
        return at.of(result, in -> {
            Var x = in.get(0);
            Var y = in.like(1, x);
            return weighted
                    ? rows(x).matmul(y).reshape(at.sizes(result))
                    : repeated(x, result, at, a.size(-2), a.size(-1))
                            .matmul(repeated(y, result, at, b.size(-2), b.size(-1)));
        });
    }

    private static Var rows(Var x) {
        return x.shape().rank() == 2
                ? x
                : x.reshape(x.shape().elements() / x.shape().at(-1), x.shape().at(-1));
    }

    /** Repeats a batch of matrices to the batch of a product. */
    private static Var repeated(Var x, Operand product, NodeContext at, long rows, long columns) {
        long[] sizes = at.sizes(product);
        at.requireNoImages(product, sizes.length - 2);
        sizes[sizes.length - 2] = rows;
        sizes[sizes.length - 1] = columns;
        return Arrays.equals(sizes, x.shape().sizes()) ? x : ShapeOperators.expanded(x, sizes);
    }

    private static BoundOperator gemm(NodeContext at) {
        OnnxNode node = at.node();
        boolean transposed = node.integer("transB", 0) == 1;
        Operand x = at.in(0, 2);
        Operand w = at.in(1, 2);
        if (node.integer("transA", 0) == 1 || x.size(1) != w.size(transposed ? 1 : 0)) {
            throw node.error("expected rows [n, d] and weights of d columns, found " + x.shape() + " and " + w.shape());
        }
        Operand result = x.to(Shape.of(x.size(0), w.size(transposed ? 0 : 1)));
        double alpha = node.number("alpha", 1);
        double beta = node.number("beta", 1);
        boolean plain = alpha == 1
                && beta == 1
                && node.has(2)
                && at.in(2).rank() == 1
                && at.in(2).size(0) == result.size(1);
        return at.of(result, in -> {
            if (plain) {
                Var weight = transposed ? in.get(1) : in.get(1).transpose(0, 1);
                return Tokens.linear(in.get(0), weight, in.get(2));
            }
            Var cast = in.like(1, in.get(0));
            Var weight = transposed ? cast.transpose(0, 1) : cast;
            Var product = in.get(0).matmul(weight).mul(alpha);
            return node.has(2) ? product.add(in.like(2, product).mul(beta)) : product;
        });
    }

    /** Product with a weight {@code [d, k]} and a bias {@code [k]}. */
    private static BoundOperator linear(NodeContext at) {
        Operand x = at.in(0);
        Operand w = at.in(1, 2);
        Operand b = at.in(2, 1);
        if (x.rank() < 2 || x.size(-1) != w.size(0) || b.size(0) != w.size(1)) {
            throw at.error(
                    "expected [.., d], [d, k] and [k], found " + x.shape() + ", " + w.shape() + " and " + b.shape());
        }
        Operand result = x.to(x.shape().with(-1, w.size(1)));
        return at.of(result, in -> Tokens.linear(in.get(0), in.get(1).transpose(0, 1), in.get(2)));
    }

    /** Attention of heads {@code [n, h, t, e]} or {@code [n, t, e]}. */
    private static BoundOperator attention(NodeContext at) {
        double scale = at.node().number("scale", 1);
        Operand q = at.in(0);
        boolean three = q.rank() == 3;
        boolean fits = (three || q.rank() == 4)
                && at.in(1).shape().equals(at.in(2).shape())
                && q.shape().with(-2, 1).equals(at.in(1).shape().with(-2, 1));
        if (!fits) {
            throw at.error("expected queries, keys and values of equal size, found " + q.shape() + ", "
                    + at.in(1).shape() + " and " + at.in(2).shape());
        }
        return at.of(q, in -> {
            Var query = heads(in.get(0), three);
            Var attended = Tokens.attention(query, heads(in.get(1), three), heads(in.get(2), three), scale);
            return three ? attended.reshape(at.sizes(q)) : attended;
        });
    }

    private static Var heads(Var x, boolean three) {
        return three ? x.split(0, x.shape().at(0), 1) : x;
    }

    private static BoundOperator softmax(NodeContext at) {
        Operand x = at.in(0);
        int axis = at.axis(at.opset() < 13 ? 1 : -1);
        int last = x.rank() - 1;
        if (axis == last) {
            return at.map(x, Tokens::softmax);
        }
        if (at.opset() >= 13) {
            return at.map(x, v -> Tokens.softmax(v.transpose(axis, last)).transpose(axis, last));
        }
        return at.map(
                x,
                v -> { // before opset 13 all dimensions from the axis on are one
                    long[] sizes = v.shape().sizes();
                    long rows = LongStream.of(sizes).limit(axis).reduce(1, (m, n) -> m * n);
                    return Tokens.softmax(v.reshape(rows, v.shape().elements() / rows))
                            .reshape(sizes);
                });
    }

    private static BoundOperator layerNorm(NodeContext at) {
        Operand x = at.in(0);
        OnnxNode node = at.node();
        int axis = at.axis(-1);
        Shape each = Shape.of(x.size(-1));
        if (axis != x.rank() - 1
                || !at.in(1).shape().equals(each)
                || (node.has(2) && !at.in(2).shape().equals(each))) {
            throw node.error(
                    "expected a norm of the last dimension with one scale and offset per channel of " + x.shape()
                            + ", found dimension " + axis + " and " + at.in(1).shape());
        }
        double epsilon = node.number("epsilon", 1e-5);
        return at.of(x, in -> {
            Var beta = node.has(2) ? in.get(2) : in.get(1).mul(0);
            return Tokens.layerNorm(in.get(0), in.get(1), beta, epsilon);
        });
    }
}
