package org.gramian.export.graph;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.onnx.HostTensor;
import org.gramian.backbone.onnx.OnnxNode;
import org.gramian.backbone.onnx.OnnxWriter;
import org.gramian.backbone.onnx.OnnxWriter.ValueInfo;
import org.gramian.basis.Protobuf;
import org.gramian.pooling.Normalization;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;
import org.gramian.tensor.file.StoredTensor;

/**
 * Builder of an ONNX graph: nodes and constants, named after their part, e.g. {@code pooling/rbf/Exp}.
 *
 * <p>Repeated names are numbered. A parameter keeps its name in the model file and is not copied: its memory must stay readable
 * until the graph is written. Element-wise operators broadcast as NumPy's do.
 */
final class Graph {
    /** Content shared by all parts. */
    private static final class Content {
        private final List<OnnxNode> nodes = new ArrayList<>();
        private final List<Protobuf.Writer> constants = new ArrayList<>();
        private final Map<String, Value> shared = new HashMap<>();
        private final Map<String, Value> parameters = new HashMap<>();
        private final Set<String> names = new HashSet<>();
    }

    private final Content content;
    private final String part;

    private Graph(Content content, String part) {
        this.content = content;
        this.part = part;
    }

    static Graph empty() {
        return new Graph(new Content(), "");
    }

    /** Returns the graph under the name of a part. */
    Graph at(String name) {
        return new Graph(content, part.isEmpty() ? name : part + "/" + name);
    }

    Protobuf.Writer message(ValueInfo input, ValueInfo... outputs) {
        return OnnxWriter.graph(content.nodes, content.constants, List.of(input), List.of(outputs));
    }

    /** Adds an input. */
    Value input(String name, List<Long> sizes) {
        content.names.add(name);
        return new Value(name, sizes);
    }

    Value node(String operator, List<Long> sizes, List<Value> inputs) {
        return node(operator, sizes, inputs, Map.of());
    }

    /**
     * Adds an operator.
     *
     * @param attributes integers, numbers, texts or arrays of integers by name
     */
    Value node(String operator, List<Long> sizes, List<Value> inputs, Map<String, Object> attributes) {
        if (!ModelGraph.OPERATORS.contains(operator)) {
            throw new IllegalArgumentException(
                    "expected an operator of " + ModelGraph.OPERATORS + ", found " + operator);
        }
        String name = unique(part.isEmpty() ? operator : part + "/" + operator);
        Map<String, Object> encoded = new TreeMap<>(attributes);
        encoded.replaceAll((_, value) -> switch (value) {
            case Long integer -> HostTensor.integer(integer);
            case Double number -> HostTensor.number(number);
            case long[] integers -> HostTensor.of(integers);
            default -> value;
        });
        List<String> names = inputs.stream().map(Value::name).toList();
        content.nodes.add(new OnnxNode(name, operator, names, List.of(name), encoded));
        return new Value(name, sizes);
    }

    /** Adds an output. */
    Value output(String name, Value value) {
        if (!unique(name).equals(name)) {
            throw new IllegalStateException("two outputs are named " + name);
        }
        content.nodes.add(new OnnxNode(name + "/Identity", "Identity", List.of(value.name()), List.of(name), Map.of()));
        return new Value(name, value.sizes());
    }

    /** Adds a parameter under its name in the model file, once. */
    Value parameter(HostParameters parameters, String name) {
        StoredTensor tensor = parameters.get(name);
        return content.parameters.computeIfAbsent(parameters.prefix() + name, wanted -> {
            long[] sizes = tensor.shape().sizes();
            String own = unique(wanted);
            return add(own, sizes, OnnxWriter.floats(own, sizes, tensor.data()));
        });
    }

    /** Adds a constant. */
    Value constant(String name, List<Long> sizes, double... values) {
        return floats(unique(part + "/" + name), sizes, values);
    }

    /** Adds a constant that is not copied. */
    Value constant(String name, Shape shape, float[] values) {
        String own = unique(part + "/" + name);
        return add(own, shape.sizes(), OnnxWriter.floats(own, shape.sizes(), MemorySegment.ofArray(values)));
    }

    /** Adds a column {@code [k, 1]}. */
    Value column(String name, double... values) {
        return constant(name, List.of((long) values.length, 1L), values);
    }

    /** Adds a scalar, once. */
    Value number(double value) {
        return shared("number/" + (float) value, List.of(), () -> new double[] {value});
    }

    /** Adds a constant once per name. */
    private Value shared(String name, List<Long> sizes, Supplier<double[]> values) {
        return content.shared.computeIfAbsent(name, _ -> floats(unique(name), sizes, values.get()));
    }

    private Value floats(String name, List<Long> sizes, double[] values) {
        long[] all = sizes.stream().mapToLong(Long::longValue).toArray();
        return add(name, all, OnnxWriter.floats(name, all, values));
    }

    /** Adds integers: axes, sizes, indexes. */
    Value integers(String name, long... values) {
        return constant(name, HostTensor.of(values));
    }

    /** Adds a constant in its own type. */
    Value constant(String name, HostTensor value) {
        String own = unique(part + "/" + name);
        return add(own, value.shape().sizes(), OnnxWriter.tensor(own, value));
    }

    /** Adds truth values. */
    Value booleans(String name, HostTensor value) {
        String own = unique(part + "/" + name);
        return add(own, value.shape().sizes(), OnnxWriter.booleans(own, value));
    }

    private Value add(String name, long[] sizes, Protobuf.Writer constant) {
        content.constants.add(constant);
        return new Value(name, Arrays.stream(sizes).boxed().toList());
    }

    private String unique(String wanted) {
        String name = wanted;
        for (int i = 2; !content.names.add(name); i++) {
            name = wanted + "_" + i;
        }
        return name;
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
        return mul(a, number(factor));
    }

    Value shift(Value a, double summand) {
        return add(a, number(summand));
    }

    Value power(Value a, double exponent) {
        return binary("Pow", a, number(exponent));
    }

    /** {@code max(x, least)}. */
    Value atLeast(Value a, double least) {
        return binary("Max", a, number(least));
    }

    /** {@code a} where {@code a > bound}, else 0. */
    Value aboveOrZero(Value a, Value bound) {
        return node("Where", a.sizes(), List.of(binary("Greater", a, bound), a, number(0)));
    }

    private Value binary(String operator, Value a, Value b) {
        return node(operator, broadcast(a.sizes(), b.sizes()), List.of(a, b));
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

    Value sign(Value a) {
        return unary("Sign", a);
    }

    private Value unary(String operator, Value a) {
        return node(operator, a.sizes(), List.of(a));
    }

    Value softmax(Value a, int axis) {
        return node("Softmax", a.sizes(), List.of(a), Map.of("axis", (long) axis));
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
        return scale(mul(x, shift(unary("Erf", scale(x, Math.sqrt(0.5))), 1)), 0.5);
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
        return node("MatMul", sizes, List.of(a, b));
    }

    /** {@code X·Xᵀ}. */
    Value gram(Value x) {
        return matmul(x, transpose(x));
    }

    /** Returns the traces {@code [n, 1, 1]} of matrices. */
    Value trace(Value matrices) {
        return sum(mul(matrices, identity(matrices.at(1), 1)), 1, 2);
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
        List<Long> sizes = Arrays.stream(axes).mapToObj(a::at).toList();
        return node("Transpose", sizes, List.of(a), Map.of("perm", order));
    }

    /** Sums over axes, keeping them with size 1. */
    Value sum(Value a, int... axes) {
        List<Long> sizes = new ArrayList<>(a.sizes());
        for (int axis : axes) {
            sizes.set(axis, 1L);
        }
        Value over = integers("axes", Arrays.stream(axes).asLongStream().toArray());
        return node("ReduceSum", sizes, List.of(a, over), Map.of("keepdims", 1L));
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
        return node("Reshape", sizes, List.of(a, integers("sizes", target)));
    }

    Value concat(List<Value> parts, int axis) {
        long total = parts.stream().mapToLong(part -> part.at(axis)).sum();
        return node("Concat", parts.getFirst().with(axis, total), parts, Map.of("axis", (long) axis));
    }

    /** Returns the elements at these indexes of an axis. */
    Value gather(Value a, long[] indexes, int axis) {
        Value index = integers("indexes", indexes);
        return node("Gather", a.with(axis, indexes.length), List.of(a, index), Map.of("axis", (long) axis));
    }

    /** Returns the range {@code [start, end)} of an axis. */
    Value slice(Value a, int axis, long start, long end) {
        return slice(a, new int[] {axis}, new long[] {start}, new long[] {end});
    }

    /** Returns the ranges {@code [start, end)} of axes. */
    Value slice(Value a, int[] axes, long[] starts, long[] ends) {
        List<Long> sizes = new ArrayList<>(a.sizes());
        for (int i = 0; i < axes.length; i++) {
            sizes.set(axes[i], ends[i] - starts[i]);
        }
        Value over = integers("axes", Arrays.stream(axes).asLongStream().toArray());
        return node("Slice", sizes, List.of(a, integers("starts", starts), integers("ends", ends), over));
    }

    /** Returns {@code v·Wᵀ + b} of rows. */
    Value linear(Value rows, Value weight, Value bias) {
        return node("Gemm", List.of(rows.at(0), weight.at(0)), List.of(rows, weight, bias), Map.of("transB", 1L));
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
        return shared(name, List.of(size, size), () -> {
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
        Value magnitude = unary("Abs", vectors);
        if (epsilon == 0) {
            return mul(sign(vectors), sqrt(magnitude));
        }
        return div(vectors, shift(sqrt(shift(magnitude, epsilon)), Math.sqrt(epsilon)));
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

    /** Max pooling of maps {@code [n, c, h, w]}. */
    Value maxPool(Value maps, Window window) {
        return pool("MaxPool", maps, window, far(maps, window), Map.of());
    }

    /**
     * Average pooling. Padding counts as zeros; positions beyond it in a rounded-up window do not count.
     *
     * @throws NotExpressibleException for windows with padding that are rounded up
     */
    Value averagePool(Value maps, Window window) {
        boolean padded = window.padding().vertical() + window.padding().horizontal() > 0;
        if (padded && window.ceil()) {
            throw new NotExpressibleException(
                    "average pooling with both padding and ceil mode, which ONNX averages differently");
        }
        Pair far = window.ceil() ? far(maps, window) : window.padding();
        return pool("AveragePool", maps, window, far, Map.of("count_include_pad", window.ceil() ? 0L : 1L));
    }

    /** Incomplete windows at the far border become explicit padding instead of {@code ceil_mode}, which runtimes read differently. */
    private Value pool(String operator, Value maps, Window window, Pair far, Map<String, Object> more) {
        Shape left = window.outputs(Shape.of(maps.at(1), maps.at(2), maps.at(3)));
        Pair near = window.padding();
        Map<String, Object> attributes = new HashMap<>(more);
        attributes.put("kernel_shape", pair(window.size()));
        attributes.put("strides", pair(window.stride()));
        attributes.put("pads", new long[] {near.vertical(), near.horizontal(), far.vertical(), far.horizontal()});
        return node(operator, List.of(maps.at(0), maps.at(1), left.at(1), left.at(2)), List.of(maps), attributes);
    }

    private static long[] pair(Pair pair) {
        return new long[] {pair.vertical(), pair.horizontal()};
    }

    /** Rows and columns that the last window reaches beyond the maps. */
    private static Pair far(Value maps, Window window) {
        Shape left = window.outputs(Shape.of(maps.at(1), maps.at(2), maps.at(3)));
        Pair stride = window.stride();
        long bottom = (left.at(1) - 1) * stride.vertical() + window.size().vertical();
        long right = (left.at(2) - 1) * stride.horizontal() + window.size().horizontal();
        return new Pair(
                Math.toIntExact(
                        Math.max(0, bottom - maps.at(2) - window.padding().vertical())),
                Math.toIntExact(
                        Math.max(0, right - maps.at(3) - window.padding().horizontal())));
    }

    /** Global average pooling to {@code [n, c, 1, 1]}. */
    Value globalAverage(Value maps) {
        return node("GlobalAveragePool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    /** Global max pooling to {@code [n, c, 1, 1]}. */
    Value globalMax(Value maps) {
        return node("GlobalMaxPool", List.of(maps.at(0), maps.at(1), 1L, 1L), List.of(maps));
    }

    /** Applies an activation. */
    Value activated(Value maps, Activation activation) {
        return switch (activation) {
            case NONE -> maps;
            case RELU -> relu(maps);
            case RELU6 -> node("Clip", maps.sizes(), List.of(maps, number(0), number(6)));
            case SIGMOID -> unary("Sigmoid", maps);
            case HARD_SIGMOID ->
                node("HardSigmoid", maps.sizes(), List.of(maps), Map.of("alpha", 1.0 / 6, "beta", 0.5));
            // HardSwish is an operator since opset 14, Swish since 24: as products they work in every opset
            case SILU -> mul(maps, activated(maps, Activation.SIGMOID));
            case HARD_SWISH -> mul(maps, activated(maps, Activation.HARD_SIGMOID));
        };
    }

    /** Resizes as {@link Interpolation#resize}: bilinear between half-pixel centres. */
    Value resize(Value maps, long height, long width) {
        return resize(maps, height, width, "linear");
    }

    /**
     * Resizes between half-pixel centres, {@code linear} or {@code cubic}.
     *
     * <p>Scales are given instead of sizes, since the number of images is dynamic; each is the nearest float32 to the ratio with
     * {@code floor(size·scale)} equal to the target.
     */
    Value resize(Value maps, long height, long width, String mode) {
        if (maps.at(2) == height && maps.at(3) == width) {
            return maps;
        }
        Value scales = constant("scales", List.of(4L), 1, 1, scale(maps.at(2), height), scale(maps.at(3), width));
        return node(
                "Resize",
                List.of(maps.at(0), maps.at(1), height, width),
                List.of(maps, Value.ABSENT, scales),
                Map.of("coordinate_transformation_mode", "half_pixel", "mode", mode));
    }

    private static double scale(long from, long to) {
        float scale = (float) to / from;
        while ((long) (scale * from) < to || Math.floor((double) scale * from) < to) {
            scale = Math.nextUp(scale);
        }
        return scale;
    }

    /** The maps that {@link #resize} made larger, as {@link Interpolation#undoResize}. */
    Value undoResize(Value maps, long height, long width) {
        if (maps.at(2) == height && maps.at(3) == width) {
            return maps;
        }
        Value rows = inverse(height, maps.at(2));
        Value columns = inverse(width, maps.at(3));
        return matmul(rows, matmul(maps, transpose(columns)));
    }

    private Value inverse(long from, long to) {
        return constant(
                "inverse", List.of(from, to), Interpolation.inverseWeights(Math.toIntExact(from), Math.toIntExact(to)));
    }
}
