package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.export.proto.OnnxProto;
import org.gramian.pooling.Normalization;

/** Operators on the values of a {@link Graph}: matrix products, sums and element-wise operators with NumPy's broadcasting. */
record Algebra(Graph graph) {
    /** Returns the operators under the name of a part. */
    Algebra at(String part) {
        return new Algebra(graph.at(part));
    }

    Value add(Value a, Value b) {
        return binary("Add", a, b);
    }

    Value sub(Value a, Value b) {
        return binary("Sub", a, b);
    }

    Value mul(Value a, Value b) {
        return binary("Mul", a, b);
    }

    Value div(Value a, Value b) {
        return binary("Div", a, b);
    }

    Value scale(Value a, double factor) {
        return mul(a, graph.number(factor));
    }

    Value shift(Value a, double summand) {
        return add(a, graph.number(summand));
    }

    /** {@code max(x, least)}. */
    Value atLeast(Value a, double least) {
        return binary("Max", a, graph.number(least));
    }

    /** {@code a} where {@code a > bound}, else 0. */
    Value aboveOrZero(Value a, Value bound) {
        Value above = binary("Greater", a, bound);
        return graph.node("Where", a.sizes(), List.of(above, a, graph.number(0)));
    }

    private Value binary(String operator, Value a, Value b) {
        return graph.node(operator, broadcast(a.sizes(), b.sizes()), List.of(a, b));
    }

    Value power(Value a, double exponent) {
        return binary("Pow", a, graph.number(exponent));
    }

    Value relu(Value a) {
        return unary("Relu", a);
    }

    Value exp(Value a) {
        return unary("Exp", a);
    }

    Value log(Value a) {
        return unary("Log", a);
    }

    Value sqrt(Value a) {
        return unary("Sqrt", a);
    }

    Value abs(Value a) {
        return unary("Abs", a);
    }

    Value sign(Value a) {
        return unary("Sign", a);
    }

    Value erf(Value a) {
        return unary("Erf", a);
    }

    /** Returns an element-wise operator without attributes. */
    Value unary(String operator, Value a) {
        return graph.node(operator, a.sizes(), List.of(a));
    }

    Value softmax(Value a, int axis) {
        return graph.node("Softmax", a.sizes(), List.of(a), OnnxProto.Attribute.of("axis", axis));
    }

    /** {@code (x − mean)/√(variance + ε)·γ + β} over the last axis. */
    Value layerNorm(Value x, Value gamma, Value beta, double epsilon) {
        int last = x.rank() - 1;
        Value centred = sub(x, sumOver(x, x.at(last), last));
        Value variance = sumOver(mul(centred, centred), x.at(last), last);
        Value normal = div(centred, sqrt(shift(variance, epsilon)));
        return add(mul(normal, gamma), beta);
    }

    /** {@code x·(1 + erf(x/√2))/2}. */
    Value gelu(Value x) {
        return scale(mul(x, shift(erf(scale(x, Math.sqrt(0.5))), 1)), 0.5);
    }

    /** {@code x·(1 + tanh(√(2/π)(x + 0.044715x³)))/2}. */
    Value tanhGelu(Value x) {
        Value cube = mul(x, mul(x, x));
        Value inner = scale(add(x, scale(cube, 0.044715)), Math.sqrt(2 / Math.PI));
        return scale(mul(x, shift(unary("Tanh", inner), 1)), 0.5);
    }

    /** Matrix products over the last two axes. */
    Value matmul(Value a, Value b) {
        if (a.at(-1) != b.at(-2)) {
            throw new IllegalArgumentException("matmul: expected fitting inner sizes, found " + a + " and " + b);
        }
        List<Long> sizes = new ArrayList<>(
                broadcast(a.sizes().subList(0, a.rank() - 2), b.sizes().subList(0, b.rank() - 2)));
        sizes.add(a.at(-2));
        sizes.add(b.at(-1));
        return graph.node("MatMul", sizes, List.of(a, b));
    }

    /** Exchanges the last two axes. */
    Value transpose(Value a) {
        int[] order = IntStream.range(0, a.rank()).toArray();
        order[a.rank() - 1] = a.rank() - 2;
        order[a.rank() - 2] = a.rank() - 1;
        return permute(a, order);
    }

    /** Reorders the axes: axis i of the result is axis {@code axes[i]}. */
    Value permute(Value a, int... axes) {
        long[] order = Arrays.stream(axes).asLongStream().toArray();
        List<Long> sizes = Arrays.stream(order).mapToObj(i -> a.at((int) i)).toList();
        return graph.node("Transpose", sizes, List.of(a), OnnxProto.Attribute.of("perm", order));
    }

    /** Sums over axes, keeping them with size 1. */
    Value sum(Value a, int... axes) {
        List<Long> sizes = new ArrayList<>(a.sizes());
        for (int axis : axes) {
            sizes.set(axis, 1L);
        }
        Value over = graph.wholes("axes", Arrays.stream(axes).asLongStream().toArray());
        return graph.node("ReduceSum", sizes, List.of(a, over), OnnxProto.Attribute.of("keepdims", 1));
    }

    /** Returns the sum over axes divided by a number. */
    Value sumOver(Value a, long divisor, int... axes) {
        return scale(sum(a, axes), 1.0 / divisor);
    }

    /** Reshapes the values of each image. */
    Value reshape(Value a, long... each) {
        List<Long> sizes = new ArrayList<>(List.of(Value.BATCH));
        Arrays.stream(each).forEach(sizes::add);
        if (a.sizes().equals(sizes)) {
            return a;
        }
        long[] target = LongStream.concat(LongStream.of(0), Arrays.stream(each)).toArray(); // 0 keeps the size
        return graph.node("Reshape", sizes, List.of(a, graph.wholes("sizes", target)));
    }

    Value concat(List<Value> parts, int axis) {
        long total = parts.stream().mapToLong(part -> part.at(axis)).sum();
        return graph.node("Concat", parts.getFirst().with(axis, total), parts, OnnxProto.Attribute.of("axis", axis));
    }

    /** Returns the elements at these indexes of an axis. */
    Value gather(Value a, long[] places, int axis) {
        Value index = graph.wholes("places", places);
        return graph.node(
                "Gather", a.with(axis, places.length), List.of(a, index), OnnxProto.Attribute.of("axis", axis));
    }

    /** Returns the ranges {@code [start, end)} of axes. */
    Value slice(Value a, int[] axes, long[] starts, long[] ends) {
        List<Long> sizes = new ArrayList<>(a.sizes());
        for (int i = 0; i < axes.length; i++) {
            sizes.set(axes[i], ends[i] - starts[i]);
        }
        Value over = graph.wholes("axes", Arrays.stream(axes).asLongStream().toArray());
        return graph.node("Slice", sizes, List.of(a, graph.wholes("starts", starts), graph.wholes("ends", ends), over));
    }

    /** Returns {@code v·Wᵀ + b} of rows. */
    Value linear(Value rows, Value weight, Value bias) {
        return graph.node(
                "Gemm",
                List.of(rows.at(0), weight.at(0)),
                List.of(rows, weight, bias),
                OnnxProto.Attribute.of("transB", 1L));
    }

    /** Returns the identity matrix times a number. */
    Value identity(long size, double factor) {
        return diagonal("identity/" + size + "/" + (float) factor, size, factor, 0);
    }

    /** Returns a matrix of ones with a zero diagonal. */
    Value offDiagonal(long size) {
        return diagonal("off-diagonal/" + size, size, 0, 1);
    }

    private Value diagonal(String name, long size, double on, double off) {
        return graph.shared(name, List.of(size, size), () -> {
            int rows = Math.toIntExact(size);
            double[] values = new double[rows * rows];
            Arrays.fill(values, off);
            for (int i = 0; i < rows; i++) {
                values[i * rows + i] = on;
            }
            return values;
        });
    }

    /** Returns the signed root {@code v / (√(|v|+ε) + √ε)}. */
    Value signedRoot(Value vectors, double epsilon) {
        if (epsilon == 0) {
            return mul(sign(vectors), sqrt(abs(vectors)));
        }
        Value root = sqrt(shift(abs(vectors), epsilon));
        return div(vectors, shift(root, Math.sqrt(epsilon)));
    }

    /** Normalizes to unit length along the last axis. */
    Value unit(Value vectors) {
        Value squares = sum(mul(vectors, vectors), vectors.rank() - 1);
        return div(vectors, atLeast(sqrt(squares), Normalization.L2.SMALLEST_NORM));
    }

    private static List<Long> broadcast(List<Long> a, List<Long> b) {
        int rank = Math.max(a.size(), b.size());
        List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            long left = i < rank - a.size() ? 1 : a.get(i - rank + a.size());
            long right = i < rank - b.size() ? 1 : b.get(i - rank + b.size());
            if (left != right && left != 1 && right != 1) {
                throw new IllegalArgumentException("sizes " + a + " and " + b + " cannot be broadcast");
            }
            sizes.add(left == 1 ? right : left);
        }
        return sizes;
    }
}
