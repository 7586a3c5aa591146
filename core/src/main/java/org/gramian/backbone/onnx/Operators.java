package org.gramian.backbone.onnx;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Tokens;
import org.gramian.backbone.onnx.Planned.Site;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/** Operators of ONNX on the tape: element-wise functions, matrix products and changes of shape. */
final class Operators {
    private static final Map<String, Function<Site, Planned>> ALL = Map.ofEntries(
            // element by element
            Map.entry("Abs", at -> map(at, Var::abs)),
            Map.entry("Exp", at -> map(at, Var::exp)),
            Map.entry("Log", at -> map(at, Var::log)),
            Map.entry("Sqrt", at -> map(at, Var::sqrt)),
            Map.entry("Erf", at -> map(at, Var::erf)),
            Map.entry("Tanh", at -> map(at, Var::tanh)),
            Map.entry("Neg", at -> map(at, x -> x.mul(-1))),
            Map.entry("Reciprocal", at -> map(at, x -> x.pow(-1))),
            Map.entry("Relu", at -> activate(at, Activation.RELU)),
            Map.entry("Sigmoid", at -> activate(at, Activation.SIGMOID)),
            Map.entry("HardSwish", at -> activate(at, Activation.HARD_SWISH)),
            Map.entry(Fusion.SILU, at -> activate(at, Activation.SILU)),
            Map.entry("HardSigmoid", Operators::hardSigmoid),
            Map.entry("LeakyRelu", Operators::leakyRelu),
            Map.entry("Clip", Operators::clip),
            Map.entry("Gelu", Operators::gelu),
            Map.entry("Identity", at -> map(at, x -> x)),
            Map.entry("Dropout", at -> map(at, x -> x)),
            Map.entry("Cast", Operators::cast),
            Map.entry("Add", at -> binary(at, Operators::add, (x, c) -> x.add(c), c -> x -> x.add(c))),
            Map.entry("Mul", at -> binary(at, Var::mul, (x, c) -> x.mul(c), c -> x -> x.mul(c))),
            Map.entry(
                    "Sub",
                    at -> binary(
                            at,
                            Var::sub,
                            (x, c) -> x.add(-c),
                            c -> x -> x.mul(-1).add(c))),
            Map.entry(
                    "Div",
                    at -> binary(
                            at,
                            Var::div,
                            (x, c) -> x.mul(1 / c),
                            c -> x -> x.pow(-1).mul(c))),
            Map.entry("Pow", Operators::pow),
            Map.entry("Sum", Operators::sum),
            Map.entry(Fusion.ADD, Operators::fusedAdd),
            Map.entry("Where", Operators::where),
            // matrices and tokens
            Map.entry("MatMul", Operators::matmul),
            Map.entry("Gemm", Operators::gemm),
            Map.entry(Fusion.LINEAR, Operators::linear),
            Map.entry(Fusion.ATTENTION, Operators::attention),
            Map.entry("Softmax", Operators::softmax),
            Map.entry("LayerNormalization", Operators::layerNorm),
            Map.entry("ReduceMean", at -> ShapeOperators.reduce(at, true)),
            Map.entry("ReduceSum", at -> ShapeOperators.reduce(at, false)),
            // shapes
            Map.entry("Reshape", ShapeOperators::reshape),
            Map.entry("Flatten", ShapeOperators::reshape),
            Map.entry("Squeeze", ShapeOperators::reshape),
            Map.entry("Unsqueeze", ShapeOperators::reshape),
            Map.entry("Transpose", ShapeOperators::transpose),
            Map.entry("Expand", ShapeOperators::expand),
            Map.entry("Concat", ShapeOperators::concat),
            Map.entry("Slice", ShapeOperators::slice),
            Map.entry("Split", ShapeOperators::split),
            Map.entry("Gather", ShapeOperators::gather),
            // feature maps
            Map.entry("Conv", MapOperators::convolution),
            Map.entry(Fusion.CONV, MapOperators::convolution),
            Map.entry("BatchNormalization", MapOperators::batchNorm),
            Map.entry("LRN", MapOperators::responseNorm),
            Map.entry("MaxPool", MapOperators::maxPool),
            Map.entry("AveragePool", MapOperators::averagePool),
            Map.entry("GlobalAveragePool", at -> MapOperators.global(at, false)),
            Map.entry("GlobalMaxPool", at -> MapOperators.global(at, true)),
            Map.entry("Pad", MapOperators::pad),
            Map.entry("Resize", MapOperators::resize),
            Map.entry("Upsample", MapOperators::resize));

    private Operators() {}

    /**
     * Checks that all operators are supported.
     *
     * @throws IllegalArgumentException if one is not; the message names it and its node
     */
    static void requireSupported(List<OnnxNode> nodes) {
        for (OnnxNode node : nodes) {
            if (!ALL.containsKey(node.operator()) && !HostMath.OPERATORS.contains(node.operator())) {
                Set<String> known = new TreeSet<>(ALL.keySet());
                known.removeIf(name -> name.startsWith(Fusion.PREFIX));
                throw node.error(
                        "the operator " + QuotedText.bare(node.operator()) + " is not supported; cut the network"
                                + " before it, or export without it (opset_version=17). Supported: "
                                + String.join(", ", known));
            }
        }
    }

    /** Plans one operator. */
    static Planned plan(Site at) {
        Function<Site, Planned> rule = ALL.get(at.node().operator());
        if (rule == null) {
            throw at.node().error("expected constant inputs, found data that depends on the image");
        }
        return rule.apply(at);
    }

    private static Planned map(Site at, UnaryOperator<Var> function) {
        return Planned.of(at.in(0), function);
    }

    private static Planned activate(Site at, Activation activation) {
        return map(at, x -> x.activate(activation));
    }

    private static Planned hardSigmoid(Site at) {
        double alpha = at.node().number("alpha", 0.2);
        double beta = at.node().number("beta", 0.5);
        return Math.abs(alpha - 1 / 6.0) < 1e-6 && beta == 0.5
                ? activate(at, Activation.HARD_SIGMOID)
                : map(at, x -> x.mul(alpha).add(beta).clip(0, 1));
    }

    private static Planned leakyRelu(Site at) {
        double slope = at.node().number("alpha", 0.01);
        return map(at, x -> x.leakyRelu(slope));
    }

    private static Planned clip(Site at) {
        double low = at.number(1, "min", Double.NEGATIVE_INFINITY);
        double high = at.number(2, "max", Double.POSITIVE_INFINITY);
        Activation known = Fusion.clamp(low, high);
        return known != Activation.NONE ? activate(at, known) : map(at, x -> x.clip(low, high));
    }

    private static Planned gelu(Site at) {
        Gelu form = at.node().text("approximate", "none").equals("tanh") ? Gelu.TANH : Gelu.ERF;
        return map(at, x -> Tokens.gelu(x, form));
    }

    /** Data keeps its type: a cast between floating-point types has no effect. */
    private static Planned cast(Site at) {
        long to = at.node().whole("to", 1);
        if (to != 1 && to != 10 && to != 11 && to != 16) {
            throw at.node().error("expected a floating-point type for data, found the ONNX type " + to);
        }
        return map(at, x -> x);
    }

    /** Functions with a number as the second input. */
    @FunctionalInterface
    private interface WithNumber {
        Var apply(Var x, double number);
    }

    private static Planned binary(
            Site at, BinaryOperator<Var> function, WithNumber second, DoubleFunction<UnaryOperator<Var>> first) {
        Operand result = broadcast(at, at.in(0), at.in(1));
        Double c = scalar(at.in(1), at.in(0));
        if (c != null) {
            return Planned.of(result, (UnaryOperator<Var>) x -> second.apply(x, c));
        }
        Double d = scalar(at.in(0), at.in(1));
        if (d != null) {
            UnaryOperator<Var> mapped = first.apply(d);
            return new Planned(List.of(result), in -> List.of(mapped.apply(in.get(1))));
        }
        boolean swapped = !at.in(0).data() && at.in(1).data(); // the data gives the type
        return new Planned(List.of(result), in -> {
            Var a = swapped ? in.like(0, in.get(1)) : in.get(0);
            return List.of(function.apply(a, in.like(1, a)));
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

    private static Operand broadcast(Site at, Operand a, Operand b) {
        Shape shape = ShapeRules.broadcast(a.shape(), b.shape(), at.node());
        Operand leading = a.data() ? a : b;
        return leading.to(shape, leading.batch() + shape.rank() - leading.rank());
    }

    private static Planned pow(Site at) {
        double exponent = at.number(1, "", 0);
        return exponent == 2 ? map(at, x -> x.mul(x)) : map(at, x -> x.pow(exponent));
    }

    private static Planned sum(Site at) {
        Operand result = at.in(0);
        for (Operand next : at.inputs()) {
            result = broadcast(at, result, next);
        }
        return new Planned(List.of(result), in -> {
            Var sum = in.get(0);
            for (int i = 1; i < at.inputs().size(); i++) {
                sum = sum.add(in.like(i, sum));
            }
            return List.of(sum);
        });
    }

    private static Planned fusedAdd(Site at) {
        Activation activation = Fusion.activation(at.node());
        Operand result = broadcast(at, at.in(0), at.in(1));
        return Planned.of(result, (a, b) -> a.add(b).activate(activation));
    }

    private static Planned where(Site at) {
        ShapeRules.constant(at.node(), at.inputs(), 0);
        Operand result = broadcast(at, broadcast(at, at.in(1), at.in(2)), at.in(0));
        return new Planned(List.of(result), in -> {
            Var a = in.get(1);
            return List.of(Var.where(in.constant(0, DType.BOOL), a, in.like(2, a)));
        });
    }

    private static Planned matmul(Site at) {
        Operand a = at.in(0);
        Operand b = at.in(1);
        if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-2)) {
            throw at.node()
                    .error("expected matrices [.., a, b] and [.., b, c], found " + a.shape() + " and " + b.shape());
        }
        Shape batch = ShapeRules.broadcast(
                a.shape().with(-1, 1).with(-2, 1), b.shape().with(-1, 1).with(-2, 1), at.node());
        Shape shape = ShapeRules.shape(
                at.node(), batch.with(-2, a.size(-2)).with(-1, b.size(-1)).sizes());
        Operand leading = a.data() ? a : b;
        Operand result = leading.to(shape, leading.batch() + shape.rank() - leading.rank());
        if (b.rank() == 2 && !b.data()) {
            return Planned.of(result, (x, w) -> rows(x).matmul(w).reshape(at.sizes(result)));
        }
        return Planned.of(
                result,
                (x, y) -> repeated(x, result, at, a.size(-2), a.size(-1))
                        .matmul(repeated(y, result, at, b.size(-2), b.size(-1))));
    }

    private static Var rows(Var x) {
        return x.shape().rank() == 2
                ? x
                : x.reshape(x.shape().elements() / x.shape().at(-1), x.shape().at(-1));
    }

    /** Repeats a batch of matrices to the batch of a product. */
    private static Var repeated(Var x, Operand product, Site at, long rows, long columns) {
        long[] sizes = at.sizes(product);
        at.requireNoImages(product, sizes.length - 2);
        sizes[sizes.length - 2] = rows;
        sizes[sizes.length - 1] = columns;
        if (Arrays.equals(sizes, x.shape().sizes())) {
            return x;
        }
        long[] own = new long[sizes.length];
        Arrays.fill(own, 1);
        System.arraycopy(
                x.shape().sizes(),
                0,
                own,
                sizes.length - x.shape().rank(),
                x.shape().rank());
        return x.reshape(own).expand(sizes);
    }

    private static Planned gemm(Site at) {
        OnnxNode node = at.node();
        boolean transposed = node.whole("transB", 0) == 1;
        Operand x = at.in(0, 2);
        Operand w = at.in(1, 2);
        if (node.whole("transA", 0) == 1 || x.size(1) != w.size(transposed ? 1 : 0)) {
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
        return new Planned(List.of(result), in -> {
            if (plain) {
                Var weight = transposed ? in.get(1) : in.get(1).transpose(0, 1);
                return List.of(Tokens.linear(in.get(0), weight, in.get(2)));
            }
            Var cast = in.like(1, in.get(0));
            Var weight = transposed ? cast.transpose(0, 1) : cast;
            Var product = in.get(0).matmul(weight).mul(alpha);
            return List.of(node.has(2) ? product.add(in.like(2, product).mul(beta)) : product);
        });
    }

    /** Product with a weight {@code [d, k]} and a bias {@code [k]}. */
    private static Planned linear(Site at) {
        Operand x = at.in(0);
        Operand w = at.in(1, 2);
        Operand b = at.in(2, 1);
        if (x.rank() < 2 || x.size(-1) != w.size(0) || b.size(0) != w.size(1)) {
            throw at.node()
                    .error("expected [.., d], [d, k] and [k], found " + x.shape() + ", " + w.shape() + " and "
                            + b.shape());
        }
        Operand result = x.to(x.shape().with(-1, w.size(1)));
        return new Planned(
                List.of(result),
                in -> List.of(Tokens.linear(in.get(0), in.get(1).transpose(0, 1), in.get(2))));
    }

    /** Attention of heads {@code [n, h, t, e]} or {@code [n, t, e]}. */
    private static Planned attention(Site at) {
        double scale = at.node().number("scale", 1);
        Operand q = at.in(0);
        boolean three = q.rank() == 3;
        boolean fits = (three || q.rank() == 4)
                && at.in(1).shape().equals(at.in(2).shape())
                && q.shape().with(-2, 1).equals(at.in(1).shape().with(-2, 1));
        if (!fits) {
            throw at.node()
                    .error("expected queries, keys and values of equal size, found " + q.shape() + ", "
                            + at.in(1).shape() + " and " + at.in(2).shape());
        }
        return new Planned(List.of(q), in -> {
            Var query = heads(in.get(0), three);
            Var attended = Tokens.attention(query, heads(in.get(1), three), heads(in.get(2), three), scale);
            return List.of(three ? attended.reshape(at.sizes(q)) : attended);
        });
    }

    private static Var heads(Var x, boolean three) {
        return three ? x.split(0, x.shape().at(0), 1) : x;
    }

    private static Planned softmax(Site at) {
        Operand x = at.in(0);
        int axis = ShapeRules.axis(at.node(), at.node().whole("axis", at.opset() < 13 ? 1 : -1), x.rank());
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

    private static Planned layerNorm(Site at) {
        Operand x = at.in(0);
        OnnxNode node = at.node();
        int axis = ShapeRules.axis(node, node.whole("axis", -1), x.rank());
        Shape each = Shape.of(x.size(-1));
        if (axis != x.rank() - 1
                || !at.in(1).shape().equals(each)
                || (node.has(2) && !at.in(2).shape().equals(each))) {
            throw node.error(
                    "expected a norm of the last dimension with one scale and offset per channel of " + x.shape()
                            + ", found dimension " + axis + " and " + at.in(1).shape());
        }
        double epsilon = node.number("epsilon", 1e-5);
        return new Planned(List.of(x), in -> {
            Var beta = node.has(2) ? in.get(2) : in.get(1).mul(0);
            return List.of(Tokens.layerNorm(in.get(0), in.get(1), beta, epsilon));
        });
    }
}
