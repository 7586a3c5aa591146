package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Tokens;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/** Operators of ONNX on the tape; here element-wise functions and matrix products. */
final class Operators {
    private static final Map<String, Function<NodeContext, BoundOperator>> ALL = new TreeMap<>();

    static {
        Map<String, UnaryOperator<Var>> functions = Map.ofEntries(
                Map.entry("Abs", Var::abs),
                Map.entry("Exp", Var::exp),
                Map.entry("Log", Var::log),
                Map.entry("Sqrt", Var::sqrt),
                Map.entry("Erf", Var::erf),
                Map.entry("Tanh", Var::tanh),
                Map.entry("Neg", x -> x.mul(-1)),
                Map.entry("Reciprocal", x -> x.pow(-1)),
                Map.entry("Relu", x -> x.activate(Activation.RELU)),
                Map.entry("Sigmoid", x -> x.activate(Activation.SIGMOID)),
                Map.entry("HardSwish", x -> x.activate(Activation.HARD_SWISH)),
                Map.entry(Fusion.SILU, x -> x.activate(Activation.SILU)),
                Map.entry("Identity", x -> x),
                Map.entry("Dropout", x -> x));
        functions.forEach((name, function) -> ALL.put(name, at -> map(at, function)));
        ALL.put("Add", at -> binary(at, Operators::add, Var::add, (c, x) -> x.add(c)));
        ALL.put("Mul", at -> binary(at, Var::mul, Var::mul, (c, x) -> x.mul(c)));
        ALL.put(
                "Sub",
                at -> binary(
                        at, Var::sub, (x, c) -> x.add(-c), (c, x) -> x.mul(-1).add(c)));
        ALL.put(
                "Div",
                at -> binary(
                        at,
                        Var::div,
                        (x, c) -> x.mul(1 / c),
                        (c, x) -> x.pow(-1).mul(c)));
        ALL.putAll(Map.of(
                "HardSigmoid",
                Operators::hardSigmoid,
                "LeakyRelu",
                Operators::leakyRelu,
                "Clip",
                Operators::clip,
                "Gelu",
                Operators::gelu,
                "Cast",
                Operators::cast,
                "Pow",
                Operators::pow,
                "Sum",
                Operators::sum,
                Fusion.ADD,
                Operators::fusedAdd,
                "Where",
                Operators::where));
        ALL.putAll(Map.of(
                "MatMul",
                Operators::matmul,
                "Gemm",
                Operators::gemm,
                Fusion.LINEAR,
                Operators::linear,
                Fusion.ATTENTION,
                Operators::attention,
                "Softmax",
                Operators::softmax,
                "LayerNormalization",
                Operators::layerNorm,
                "ReduceMean",
                at -> ShapeOperators.reduce(at, true),
                "ReduceSum",
                at -> ShapeOperators.reduce(at, false)));
        for (String name : List.of("Reshape", "Flatten", "Squeeze", "Unsqueeze")) {
            ALL.put(name, ShapeOperators::reshape);
        }
        ALL.putAll(Map.of(
                "Transpose", ShapeOperators::transpose,
                "Expand", ShapeOperators::expand,
                "Concat", ShapeOperators::concat,
                "Slice", ShapeOperators::slice,
                "Split", ShapeOperators::split,
                "Gather", ShapeOperators::gather));
        ALL.putAll(Map.of(
                "Conv",
                MapOperators::convolution,
                Fusion.CONV,
                MapOperators::convolution,
                "BatchNormalization",
                MapOperators::batchNorm,
                "LRN",
                MapOperators::responseNorm,
                "MaxPool",
                MapOperators::maxPool,
                "AveragePool",
                MapOperators::averagePool,
                "GlobalAveragePool",
                at -> MapOperators.global(at, false),
                "GlobalMaxPool",
                at -> MapOperators.global(at, true),
                "Pad",
                MapOperators::pad,
                "Resize",
                MapOperators::resize));
    }

    private Operators() {}

    /**
     * Checks that all operators are supported.
     *
     * @throws IllegalArgumentException if one is not; the message names it and its node
     */
    static void requireSupported(List<OnnxNode> nodes) {
        for (OnnxNode node : nodes) {
            if (!ALL.containsKey(node.operator()) && !HostMath.isSupported(node.operator())) {
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

    /** Binds an operator to the shapes of its inputs. */
    static BoundOperator bind(NodeContext at) {
        Function<NodeContext, BoundOperator> rule = ALL.get(at.node().operator());
        if (rule == null) {
            throw at.error("expected constant inputs, found data that depends on the image");
        }
        return rule.apply(at);
    }

    private static BoundOperator map(NodeContext at, UnaryOperator<Var> function) {
        return BoundOperator.map(at.in(0), function);
    }

    private static BoundOperator activate(NodeContext at, Activation activation) {
        return map(at, x -> x.activate(activation));
    }

    private static BoundOperator hardSigmoid(NodeContext at) {
        double alpha = at.node().number("alpha", 0.2);
        double beta = at.node().number("beta", 0.5);
        return Math.abs(alpha - 1 / 6.0) < 1e-6 && beta == 0.5
                ? activate(at, Activation.HARD_SIGMOID)
                : map(at, x -> x.mul(alpha).add(beta).clip(0, 1));
    }

    private static BoundOperator leakyRelu(NodeContext at) {
        double slope = at.node().number("alpha", 0.01);
        return map(at, x -> x.leakyRelu(slope));
    }

    private static BoundOperator clip(NodeContext at) {
        double low = at.number(1, Double.NEGATIVE_INFINITY);
        double high = at.number(2, Double.POSITIVE_INFINITY);
        Activation known = Fusion.clamp(low, high);
        return known != Activation.NONE ? activate(at, known) : map(at, x -> x.clip(low, high));
    }

    private static BoundOperator gelu(NodeContext at) {
        Gelu form = at.node().text("approximate", "none").equals("tanh") ? Gelu.TANH : Gelu.ERF;
        return map(at, x -> Tokens.gelu(x, form));
    }

    /** Data keeps its type: a cast between floating-point types has no effect. */
    private static BoundOperator cast(NodeContext at) {
        long to = at.node().integer("to", 1);
        if (!TensorProto.isFloating(to)) {
            throw at.error("expected a floating-point type for data, found the ONNX type " + to);
        }
        return map(at, x -> x);
    }

    /** Function with a number as the second input. */
    @FunctionalInterface
    private interface WithNumber {
        Var apply(Var x, double number);
    }

    /** Function with a number as the first input. */
    @FunctionalInterface
    private interface OfNumber {
        Var apply(double number, Var x);
    }

    private static BoundOperator binary(
            NodeContext at, BinaryOperator<Var> function, WithNumber second, OfNumber first) {
        Operand result = broadcast(at, at.in(0), at.in(1));
        Double c = scalar(at.in(1), at.in(0));
        if (c != null) {
            return BoundOperator.map(result, x -> second.apply(x, c));
        }
        Double d = scalar(at.in(0), at.in(1));
        if (d != null) {
            return BoundOperator.of(result, in -> first.apply(d, in.get(1)));
        }
        boolean swapped = !at.in(0).data() && at.in(1).data(); // the data gives the type
        return BoundOperator.of(result, in -> {
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
        Shape shape = ShapeRules.broadcast(at.node(), a.shape(), b.shape());
        Operand leading = a.data() ? a : b;
        return leading.to(shape, leading.batch() + shape.rank() - leading.rank());
    }

    private static BoundOperator pow(NodeContext at) {
        double exponent = at.number(1);
        return exponent == 2 ? map(at, x -> x.mul(x)) : map(at, x -> x.pow(exponent));
    }

    private static BoundOperator sum(NodeContext at) {
        Operand result = at.in(0);
        for (Operand next : at.inputs()) {
            result = broadcast(at, result, next);
        }
        return BoundOperator.of(result, in -> {
            Var sum = in.get(0);
            for (int i = 1; i < at.inputs().size(); i++) {
                sum = sum.add(in.like(i, sum));
            }
            return sum;
        });
    }

    private static BoundOperator fusedAdd(NodeContext at) {
        Activation activation = Fusion.activation(at.node());
        return BoundOperator.of(
                broadcast(at, at.in(0), at.in(1)),
                in -> in.get(0).add(in.like(1, in.get(0))).activate(activation));
    }

    private static BoundOperator where(NodeContext at) {
        at.constant(0);
        Operand result = broadcast(at, broadcast(at, at.in(1), at.in(2)), at.in(0));
        return BoundOperator.of(result, in -> Var.where(in.constant(0, DType.BOOL), in.get(1), in.like(2, in.get(1))));
    }

    private static BoundOperator matmul(NodeContext at) {
        Operand a = at.in(0);
        Operand b = at.in(1);
        if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-2)) {
            throw at.error("expected matrices [.., a, b] and [.., b, c], found " + a.shape() + " and " + b.shape());
        }
        Shape batch = ShapeRules.broadcast(
                at.node(),
                a.shape().with(-1, 1).with(-2, 1),
                b.shape().with(-1, 1).with(-2, 1));
        Shape shape = ShapeRules.shape(
                at.node(), batch.with(-2, a.size(-2)).with(-1, b.size(-1)).sizes());
        Operand leading = a.data() ? a : b;
        Operand result = leading.to(shape, leading.batch() + shape.rank() - leading.rank());
        boolean weighted = b.rank() == 2 && !b.data();
        return BoundOperator.of(result, in -> {
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
        if (Arrays.equals(sizes, x.shape().sizes())) {
            return x;
        }
        return ShapeOperators.expanded(x, sizes);
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
        return BoundOperator.of(result, in -> {
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
        return BoundOperator.of(result, in -> Tokens.linear(in.get(0), in.get(1).transpose(0, 1), in.get(2)));
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
        return BoundOperator.of(q, in -> {
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
            return map(at, Tokens::softmax);
        }
        if (at.opset() >= 13) {
            return map(at, v -> Tokens.softmax(v.transpose(axis, last)).transpose(axis, last));
        }
        return map(
                at,
                v -> { // before opset 13 all dimensions from the axis on are one
                    long rows = IntStream.range(0, axis)
                            .mapToLong(i -> v.shape().at(i))
                            .reduce(1, (m, n) -> m * n);
                    Var flat = v.reshape(rows, v.shape().elements() / rows);
                    return Tokens.softmax(flat).reshape(v.shape().sizes());
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
        return BoundOperator.of(x, in -> {
            Var beta = node.has(2) ? in.get(2) : in.get(1).mul(0);
            return Tokens.layerNorm(in.get(0), in.get(1), beta, epsilon);
        });
    }
}
