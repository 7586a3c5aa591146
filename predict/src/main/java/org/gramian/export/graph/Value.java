package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.pooling.Normalization;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Shape;

/**
 * A value of a graph; its methods add operators. Element-wise operators broadcast as NumPy's do.
 *
 * @param name of the input, constant or output of a node
 * @param sizes of its axes; {@link #BATCH} first if it depends on the image
 */
record Value(Graph graph, String name, List<Long> sizes) {
    /** The dynamic size: the number of images. */
    static final long BATCH = -1;

    Value {
        sizes = List.copyOf(sizes);
    }

    static Value absent(Graph graph) {
        return new Value(graph, "", List.of());
    }

    long at(int axis) {
        return sizes.get(axis < 0 ? sizes.size() + axis : axis);
    }

    int rank() {
        return sizes.size();
    }

    List<Long> with(int axis, long size) {
        List<Long> changed = new ArrayList<>(sizes);
        changed.set(axis, size);
        return changed;
    }

    /** Returns the number of elements per image. */
    long each() {
        return sizes.stream().skip(1).reduce(1L, Math::multiplyExact);
    }

    Value add(Value other) {
        return binary("Add", other);
    }

    Value sub(Value other) {
        return binary("Sub", other);
    }

    Value mul(Value other) {
        return binary("Mul", other);
    }

    Value div(Value other) {
        return binary("Div", other);
    }

    Value scale(double factor) {
        return mul(graph.number(factor));
    }

    Value shift(double summand) {
        return add(graph.number(summand));
    }

    Value power(double exponent) {
        return binary("Pow", graph.number(exponent));
    }

    Value square() {
        return mul(this);
    }

    Value atLeast(double least) {
        return binary("Max", graph.number(least));
    }

    Value aboveOrZero(Value bound) {
        return graph.node("Where", sizes, List.of(binary("Greater", bound), this, graph.number(0)));
    }

    private Value binary(String operator, Value other) {
        return graph.node(operator, broadcast(sizes, other.sizes), List.of(this, other));
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

    Value relu() {
        return unary("Relu");
    }

    Value exp() {
        return unary("Exp");
    }

    Value log() {
        return unary("Log");
    }

    Value sqrt() {
        return unary("Sqrt");
    }

    Value sign() {
        return unary("Sign");
    }

    private Value unary(String operator) {
        return graph.node(operator, sizes, List.of(this));
    }

    Value softmax(int axis) {
        return graph.node("Softmax", sizes, List.of(this), Map.of("axis", (long) axis));
    }

    /** {@code (x − mean)/√(variance + ε)·γ + β} over the last axis. */
    Value layerNorm(Value gamma, Value beta, double epsilon) {
        Value centred = sub(mean(rank() - 1));
        Value variance = centred.square().mean(rank() - 1);
        return centred.div(variance.shift(epsilon).sqrt()).mul(gamma).add(beta);
    }

    /** {@code x·(1 + erf(x/√2))/2}. */
    Value gelu() {
        return mul(scale(Math.sqrt(0.5)).unary("Erf").shift(1)).scale(0.5);
    }

    /** {@code x·(1 + tanh(√(2/π)(x + 0.044715x³)))/2}. */
    Value tanhGelu() {
        Value inner = add(mul(square()).scale(0.044715)).scale(Math.sqrt(2 / Math.PI));
        return mul(inner.unary("Tanh").shift(1)).scale(0.5);
    }

    Value matmul(Value b) {
        if (at(-1) != b.at(-2)) {
            throw new IllegalArgumentException(
                    "matmul: expected fitting inner sizes, found " + sizes + " and " + b.sizes);
        }
        List<Long> product = new ArrayList<>(broadcast(sizes.subList(0, rank() - 2), b.sizes.subList(0, b.rank() - 2)));
        product.add(at(-2));
        product.add(b.at(-1));
        return graph.node("MatMul", product, List.of(this, b));
    }

    Value gram() {
        return matmul(transpose());
    }

    /** Returns the traces {@code [n, 1, 1]} of matrices. */
    Value trace() {
        return mul(graph.identity(at(1), 1)).sum(1, 2);
    }

    Value transpose() {
        int[] order = IntStream.range(0, rank()).toArray();
        order[rank() - 1] = rank() - 2;
        order[rank() - 2] = rank() - 1;
        return permute(order);
    }

    /** Reorders the axes: axis i of the result is axis {@code axes[i]}. */
    Value permute(int... axes) {
        List<Long> permuted = Arrays.stream(axes).mapToObj(this::at).toList();
        return graph.node("Transpose", permuted, List.of(this), Map.of("perm", longs(axes)));
    }

    private static long[] longs(int... values) {
        return Arrays.stream(values).asLongStream().toArray();
    }

    /** Sums over axes, keeping them with size 1. */
    Value sum(int... axes) {
        List<Long> kept = new ArrayList<>(sizes);
        for (int axis : axes) {
            kept.set(axis, 1L);
        }
        return graph.node(
                "ReduceSum", kept, List.of(this, graph.integers("axes", longs(axes))), Map.of("keepdims", 1L));
    }

    /** Returns the means over axes, keeping them with size 1. */
    Value mean(int... axes) {
        return sum(axes).scale(1.0 / Arrays.stream(axes).mapToLong(this::at).reduce(1, Math::multiplyExact));
    }

    /** Reshapes the values of each image. */
    Value reshape(long... each) {
        List<Long> reshaped = LongStream.concat(LongStream.of(BATCH), LongStream.of(each))
                .boxed()
                .toList();
        if (sizes.equals(reshaped)) {
            return this;
        }
        long[] target = LongStream.concat(LongStream.of(0), LongStream.of(each)).toArray(); // 0 keeps the size
        return graph.node("Reshape", reshaped, List.of(this, graph.integers("sizes", target)));
    }

    Value flatten() {
        return reshape(each());
    }

    /** Returns the elements at these indexes of an axis. */
    Value gather(long[] indexes, int axis) {
        Value index = graph.integers("indexes", indexes);
        return graph.node("Gather", with(axis, indexes.length), List.of(this, index), Map.of("axis", (long) axis));
    }

    /** Returns the range {@code [start, end)} of an axis. */
    Value slice(int axis, long start, long end) {
        return slice(new int[] {axis}, new long[] {start}, new long[] {end});
    }

    /** Returns the ranges {@code [start, end)} of axes. */
    Value slice(int[] axes, long[] starts, long[] ends) {
        List<Long> sliced = new ArrayList<>(sizes);
        for (int i = 0; i < axes.length; i++) {
            sliced.set(axes[i], ends[i] - starts[i]);
        }
        Value over = graph.integers("axes", longs(axes));
        List<Value> inputs = List.of(this, graph.integers("starts", starts), graph.integers("ends", ends), over);
        return graph.node("Slice", sliced, inputs);
    }

    /** Returns {@code v·Wᵀ + b} of rows. */
    Value linear(Value weight, Value bias) {
        return graph.node("Gemm", List.of(at(0), weight.at(0)), List.of(this, weight, bias), Map.of("transB", 1L));
    }

    /** Returns the signed root {@code v / (√(|v|+ε) + √ε)}. */
    Value signedRoot(double epsilon) {
        Value magnitude = unary("Abs");
        return epsilon == 0
                ? sign().mul(magnitude.sqrt())
                : div(magnitude.shift(epsilon).sqrt().shift(Math.sqrt(epsilon)));
    }

    /** Normalizes to unit length along the last axis. */
    Value unit() {
        return div(square().sum(rank() - 1).sqrt().atLeast(Normalization.L2.SMALLEST_NORM));
    }

    Value maxPool(Window window) {
        return pool("MaxPool", window, far(window), Map.of());
    }

    /** Average pooling. Padding counts as zeros; positions beyond it in a rounded-up window do not count. */
    Value averagePool(Window window) {
        boolean padded = window.padding().vertical() + window.padding().horizontal() > 0;
        if (padded && window.ceil()) {
            throw new NotExpressibleException(
                    "average pooling with both padding and ceil mode, which ONNX averages differently");
        }
        Window.Pair far = window.ceil() ? far(window) : window.padding();
        return pool("AveragePool", window, far, Map.of("count_include_pad", window.ceil() ? 0L : 1L));
    }

    /** Incomplete windows at the far border become explicit padding instead of {@code ceil_mode}, which runtimes read differently. */
    private Value pool(String operator, Window window, Window.Pair far, Map<String, Object> more) {
        Shape pooled = window.outputs(Shape.of(at(1), at(2), at(3)));
        Window.Pair near = window.padding();
        Map<String, Object> attributes = new HashMap<>(more);
        attributes.put(
                "kernel_shape", longs(window.size().vertical(), window.size().horizontal()));
        attributes.put(
                "strides", longs(window.stride().vertical(), window.stride().horizontal()));
        attributes.put("pads", longs(near.vertical(), near.horizontal(), far.vertical(), far.horizontal()));
        return graph.node(operator, List.of(at(0), at(1), pooled.at(1), pooled.at(2)), List.of(this), attributes);
    }

    /** Rows and columns that the last window reaches beyond the maps. */
    private Window.Pair far(Window window) {
        Shape pooled = window.outputs(Shape.of(at(1), at(2), at(3)));
        long bottom =
                (pooled.at(1) - 1) * window.stride().vertical() + window.size().vertical();
        long right = (pooled.at(2) - 1) * window.stride().horizontal()
                + window.size().horizontal();
        return new Window.Pair(
                (int) Math.max(0, bottom - at(2) - window.padding().vertical()),
                (int) Math.max(0, right - at(3) - window.padding().horizontal()));
    }

    Value globalAverage() {
        return graph.node("GlobalAveragePool", List.of(at(0), at(1), 1L, 1L), List.of(this));
    }

    /** Returns the largest elements along the last axis, in descending order. */
    Value largest(int count) {
        return graph.node("TopK", with(rank() - 1, count), List.of(this, graph.integers("count", count)));
    }

    Value globalMax() {
        return graph.node("GlobalMaxPool", List.of(at(0), at(1), 1L, 1L), List.of(this));
    }

    Value activated(Activation activation) {
        return switch (activation) {
            case NONE -> this;
            case RELU -> relu();
            case RELU6 -> graph.node("Clip", sizes, List.of(this, graph.number(0), graph.number(6)));
            case SIGMOID -> unary("Sigmoid");
            case HARD_SIGMOID -> graph.node("HardSigmoid", sizes, List.of(this), Map.of("alpha", 1.0 / 6, "beta", 0.5));
            // HardSwish is an operator since opset 14, Swish since 24: as products they work in every opset
            case SILU -> mul(activated(Activation.SIGMOID));
            case HARD_SWISH -> mul(activated(Activation.HARD_SIGMOID));
        };
    }

    /** Resizes as {@link Interpolation#resize}: bilinear between half-pixel centres. */
    Value resize(long height, long width) {
        return resize(height, width, "linear");
    }

    /**
     * Resizes between half-pixel centres, {@code linear} or {@code cubic}.
     *
     * <p>Scales are given instead of sizes, since the number of images is dynamic; each is the nearest float32 to the ratio with
     * {@code floor(size·scale)} equal to the target.
     */
    Value resize(long height, long width, String mode) {
        if (at(2) == height && at(3) == width) {
            return this;
        }
        Value scales = graph.constant("scales", List.of(4L), 1, 1, ratio(at(2), height), ratio(at(3), width));
        return graph.node(
                "Resize",
                List.of(at(0), at(1), height, width),
                List.of(this, absent(graph), scales),
                Map.of("coordinate_transformation_mode", "half_pixel", "mode", mode));
    }

    private static double ratio(long from, long to) {
        float scale = (float) to / from;
        while ((long) (scale * from) < to || Math.floor((double) scale * from) < to) {
            scale = Math.nextUp(scale);
        }
        return scale;
    }

    /** The maps that {@link #resize} made larger, as {@link Interpolation#undoResize}. */
    Value undoResize(long height, long width) {
        if (at(2) == height && at(3) == width) {
            return this;
        }
        Value rows = inverse(height, at(2));
        Value columns = inverse(width, at(3));
        return rows.matmul(matmul(columns.transpose()));
    }

    private Value inverse(long from, long to) {
        return graph.constant(
                "inverse", List.of(from, to), Interpolation.inverseWeights(Math.toIntExact(from), Math.toIntExact(to)));
    }
}
