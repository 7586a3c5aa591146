package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.onnx.HostTensor;
import org.gramian.backbone.onnx.Operation;
import org.gramian.backbone.onnx.Operation.Geometry;
import org.gramian.backbone.onnx.Segment;
import org.gramian.backbone.onnx.ShapeRules.Range;
import org.gramian.export.proto.OnnxProto.Attribute;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Operators of a network that was read from an ONNX file.
 *
 * <p>The nodes are not those of the file: sizes are those of the exported image size, shape arithmetic is folded, the
 * number of images is dynamic, and every node has the form of the operator sets 13 and later. Fused operators become
 * their formulas.
 */
final class ImportedLowering {
    private final Algebra algebra;
    private final ParameterSet parameters;
    private final Map<String, Value> values = new HashMap<>();

    ImportedLowering(Algebra algebra, ParameterSet parameters) {
        this.algebra = algebra;
        this.parameters = parameters;
    }

    /** Lowers a part of a network; what enters and leaves is as {@link Segment#apply} has it. */
    Value lower(Segment segment, Value state) {
        Value entering = switch (segment.entering().kind()) {
            case MAPS, TOKENS -> state;
            case CHANNELS_LAST -> algebra.permute(state, 0, 2, 3, 1);
            case VECTOR -> algebra.reshape(state, state.each());
        };
        values.put(segment.input(), entering);
        long[] sizes = entering.sizes().stream().mapToLong(Long::longValue).toArray();
        sizes[0] = 1;
        for (Operation operation : segment.operations(Shape.of(sizes))) {
            List<Value> results = switch (operation.operator()) {
                case "Split" -> split(operation);
                case "Concat" -> List.of(concatenated(operation));
                default -> List.of(result(operation, in(operation, 0)));
            };
            for (int i = 0; i < results.size(); i++) {
                values.put(operation.outputs().get(i).name(), results.get(i));
            }
        }
        Value leaving = input(segment.output());
        return switch (segment.layout().kind()) {
            case MAPS, TOKENS -> leaving;
            case CHANNELS_LAST -> algebra.permute(leaving, 0, 3, 1, 2);
            case VECTOR -> algebra.reshape(leaving, leaving.at(1), 1, 1);
        };
    }

    private Value input(String name) {
        Value known = values.get(name);
        return known != null ? known : algebra.graph().parameter(parameters.get(name));
    }

    private Value in(Operation operation, int i) {
        Operation.Tensor tensor = operation.inputs().get(i);
        HostTensor constant = tensor.constant();
        if (constant == null) {
            return input(tensor.name());
        }
        return tensor.sizes().isEmpty()
                ? algebra.graph().number(constant.values()[0])
                : algebra.graph().constant("constant", tensor.sizes(), constant.values());
    }

    /** Returns the result of an operator with a first input x. */
    private Value result(Operation operation, Value x) {
        List<Long> sizes = operation.outputs().getFirst().sizes();
        return switch (operation.operator()) {
            case "Identity", "Dropout", "Cast" -> x;
            case "Abs", "Exp", "Log", "Sqrt", "Erf", "Tanh", "Relu", "Sigmoid" ->
                algebra.unary(operation.operator(), x);
            case "Neg" -> algebra.scale(x, -1);
            case "Reciprocal" -> algebra.power(x, -1);
            case "HardSwish" -> windows().activated(x, Activation.HARD_SWISH);
            case "FusedSilu" -> windows().activated(x, Activation.SILU);
            case "Gelu" -> operation.text("approximate", "none").equals("tanh") ? algebra.tanhGelu(x) : algebra.gelu(x);
            case "HardSigmoid" ->
                node(
                        operation.operator(),
                        sizes,
                        List.of(x),
                        real(operation, "alpha", 0.2),
                        real(operation, "beta", 0.5));
            case "LeakyRelu" -> node(operation.operator(), sizes, List.of(x), real(operation, "alpha", 0.01));
            case "Clip" -> clip(operation, x);
            case "Add" -> algebra.add(x, in(operation, 1));
            case "Sub" -> algebra.sub(x, in(operation, 1));
            case "Mul" -> algebra.mul(x, in(operation, 1));
            case "Div" -> algebra.div(x, in(operation, 1));
            case "Pow" -> algebra.power(x, operation.number(1, "", 0));
            case "FusedAdd" -> windows().activated(algebra.add(x, in(operation, 1)), operation.activation());
            case "Sum" ->
                IntStream.range(1, operation.inputs().size())
                        .mapToObj(i -> in(operation, i))
                        .reduce(x, algebra::add);
            case "Where" -> {
                Value chosen =
                        node("Greater", x.sizes(), List.of(x, algebra.graph().number(0.5)));
                yield node("Where", sizes, List.of(chosen, in(operation, 1), in(operation, 2)));
            }
            case "MatMul" -> algebra.matmul(x, in(operation, 1));
            case "FusedLinear" -> algebra.add(algebra.matmul(x, in(operation, 1)), in(operation, 2));
            case "Gemm" ->
                node(
                        "Gemm",
                        sizes,
                        present(operation, 3),
                        real(operation, "alpha", 1),
                        real(operation, "beta", 1),
                        whole(operation, "transB", 0));
            case "FusedAttention" -> {
                Value keys = algebra.transpose(in(operation, 1));
                Value scores = algebra.matmul(algebra.scale(x, operation.number("scale", 1)), keys);
                yield algebra.matmul(algebra.softmax(scores, x.rank() - 1), in(operation, 2));
            }
            case "Softmax" -> softmax(operation, x);
            case "LayerNormalization" -> {
                Value gamma = in(operation, 1);
                Value beta =
                        operation.has(2) ? in(operation, 2) : algebra.graph().number(0);
                yield algebra.layerNorm(x, gamma, beta, operation.number("epsilon", 1e-5));
            }
            case "ReduceMean", "ReduceSum" -> reduced(operation, x, sizes);
            case "Reshape", "Flatten", "Squeeze", "Unsqueeze" -> reshaped(x, sizes);
            case "Transpose" -> algebra.permute(x, operation.order());
            case "Expand" -> expanded(x, sizes);
            case "Slice" -> sliced(x, operation.ranges());
            case "Gather" -> reshaped(algebra.gather(x, operation.places(), operation.axis(0)), sizes);
            case "Conv", "FusedConv" -> convolved(operation, sizes);
            case "BatchNormalization" -> normalized(operation, x, 1);
            case "LRN" ->
                node(
                        "LRN",
                        sizes,
                        List.of(x),
                        whole(operation, "size", 1),
                        real(operation, "alpha", 1e-4),
                        real(operation, "beta", 0.75),
                        real(operation, "bias", 1));
            case "MaxPool", "AveragePool" -> pooled(operation, x, sizes);
            case "GlobalAveragePool" -> windows().globalAverage(x);
            case "GlobalMaxPool" -> windows().globalMax(x);
            case "Pad" -> padded(operation, x, sizes);
            case "Resize", "Upsample" -> resized(operation, x, sizes);
            default ->
                throw new NotExpressibleException("the imported " + operation
                        + " has no form for export; choose a layer" + " before it with --layer");
        };
    }

    private Windows windows() {
        return new Windows(algebra.graph());
    }

    private Value node(String operator, List<Long> sizes, List<Value> inputs, Attribute... attributes) {
        return algebra.graph().node(operator, sizes, inputs, attributes);
    }

    private static Attribute real(Operation operation, String name, double otherwise) {
        return Attribute.of(name, operation.number(name, otherwise));
    }

    private static Attribute whole(Operation operation, String name, long otherwise) {
        return Attribute.of(name, (long) operation.number(name, (double) otherwise));
    }

    private static Attribute list(String name, List<Long> values) {
        return Attribute.of(name, values.stream().mapToLong(Long::longValue).toArray());
    }

    /** Returns up to so many inputs that are present. */
    private List<Value> present(Operation operation, int most) {
        return IntStream.range(0, most)
                .filter(operation::has)
                .mapToObj(i -> in(operation, i))
                .toList();
    }

    private Value clip(Operation operation, Value x) {
        double low = operation.number(1, "min", Double.NEGATIVE_INFINITY);
        double high = operation.number(2, "max", Double.POSITIVE_INFINITY);
        Value least = Double.isInfinite(low) ? Value.ABSENT : algebra.graph().number(low);
        return node(
                "Clip",
                x.sizes(),
                Double.isInfinite(high)
                        ? List.of(x, least)
                        : List.of(x, least, algebra.graph().number(high)));
    }

    private Value softmax(Operation operation, Value x) {
        int axis = operation.softmaxAxis();
        if (!operation.isFlatSoftmax() || axis == x.rank() - 1) {
            return algebra.softmax(x, axis);
        }
        long each = x.sizes().stream().skip(axis).reduce(1L, Math::multiplyExact);
        return reshaped(algebra.softmax(reshaped(x, List.of(Value.BATCH, each)), 1), x.sizes());
    }

    /** Returns other sizes; the one of the images, if there is one, follows from the others. */
    private Value reshaped(Value x, List<Long> sizes) {
        return x.sizes().equals(sizes)
                ? x
                : node("Reshape", sizes, List.of(x, algebra.graph().wholes("sizes", longs(sizes))));
    }

    private static long[] longs(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    private Value reduced(Operation operation, Value x, List<Long> sizes) {
        int[] axes = operation.axes();
        long count = Arrays.stream(axes).mapToLong(x::at).reduce(1, Math::multiplyExact);
        Value sums = algebra.sum(x, axes);
        return reshaped(operation.operator().equals("ReduceSum") ? sums : algebra.scale(sums, 1.0 / count), sizes);
    }

    private Value expanded(Value x, List<Long> sizes) {
        long[] target =
                sizes.stream().mapToLong(size -> size == Value.BATCH ? 1 : size).toArray(); // 1 keeps the size
        return x.sizes().equals(sizes)
                ? x
                : node("Expand", sizes, List.of(x, algebra.graph().wholes("sizes", target)));
    }

    private Value concatenated(Operation operation) {
        int images = operation.outputs().getFirst().sizes().indexOf(Value.BATCH);
        List<Value> parts =
                new ArrayList<>(IntStream.range(0, operation.inputs().size())
                        .mapToObj(i -> in(operation, i))
                        .toList());
        for (int i = 0; images >= 0 && i < parts.size(); i++) {
            if (parts.get(i).at(images) != Value.BATCH) {
                parts.set(i, repeated(parts.get(i), parts, images));
            }
        }
        return algebra.concat(parts, operation.axis(1));
    }

    /** Repeats a constant or weight for each image: 0 times an element of the data has their number. */
    private Value repeated(Value part, List<Value> parts, int images) {
        Value data = parts.stream()
                .filter(value -> value.at(images) == Value.BATCH)
                .findFirst()
                .orElseThrow(() -> new NotExpressibleException("a sequence of weights for each image"));
        int[] others = IntStream.range(0, data.rank()).filter(i -> i != images).toArray();
        long[] ones = LongStream.generate(() -> 1).limit(others.length).toArray();
        return algebra.add(algebra.scale(algebra.slice(data, others, new long[others.length], ones), 0), part);
    }

    private Value sliced(Value x, List<Range> ranges) {
        Value part = x;
        for (Range range : ranges) {
            boolean all = range.start() == 0 && range.step() == 1 && range.count() == part.at(range.axis());
            if (part.at(range.axis()) == Value.BATCH || all) {
                continue; // all of them: others are refused when the network is imported
            }
            part = range.step() == 1
                    ? range(part, range.axis(), range.start(), range.count())
                    : algebra.gather(part, range.places(), range.axis());
        }
        return part;
    }

    private Value range(Value x, int axis, long start, long count) {
        return algebra.slice(x, new int[] {axis}, new long[] {start}, new long[] {start + count});
    }

    private List<Value> split(Operation operation) {
        Value x = in(operation, 0);
        List<Value> parts = new ArrayList<>();
        long start = 0;
        for (long size : operation.parts()) {
            parts.add(range(x, operation.axis(0), start, size));
            start += size;
        }
        return parts;
    }

    private Value convolved(Operation operation, List<Long> sizes) {
        Geometry window = operation.window();
        Value sums = node(
                "Conv",
                sizes,
                present(operation, 3),
                list("kernel_shape", window.size()),
                list("strides", window.strides()),
                list("dilations", window.dilations()),
                list("pads", window.pads()),
                whole(operation, "group", 1));
        return windows().activated(operation.has(3) ? normalized(operation, sums, 3) : sums, operation.activation());
    }

    /** Normalizes by the scale, offset, mean and variance that are inputs from an index on. */
    private Value normalized(Operation operation, Value x, int first) {
        List<Value> inputs = new ArrayList<>(List.of(x));
        for (int i = first; i < first + 4; i++) {
            inputs.add(in(operation, i));
        }
        return node("BatchNormalization", x.sizes(), inputs, real(operation, "epsilon", 1e-5));
    }

    /** Incomplete windows at the far border become explicit padding, as in {@link Windows}. */
    private Value pooled(Operation operation, Value x, List<Long> sizes) {
        Geometry window = operation.window();
        long[] pads = longs(window.pads());
        boolean none = Arrays.stream(pads).allMatch(side -> side == 0);
        boolean rounded = false;
        for (int i = 0; i < 2; i++) {
            long end = (sizes.get(2 + i) - 1) * window.strides().get(i)
                    + window.size().get(i);
            long beyond = end - x.at(2 + i) - pads[i];
            rounded |= beyond > pads[2 + i];
            pads[2 + i] = Math.max(pads[2 + i], beyond);
        }
        List<Attribute> attributes = new ArrayList<>(List.of(
                list("kernel_shape", window.size()), list("strides", window.strides()), Attribute.of("pads", pads)));
        if (operation.operator().equals("AveragePool")) {
            boolean counted = operation.number("count_include_pad", 0) == 1;
            if (counted && rounded && !none) {
                throw new NotExpressibleException("average pooling with both padding and ceil mode (" + operation
                        + "), which ONNX averages differently");
            }
            attributes.add(Attribute.of("count_include_pad", counted && !rounded ? 1L : 0L));
        }
        return node(operation.operator(), sizes, List.of(x), attributes.toArray(Attribute[]::new));
    }

    private Value padded(Operation operation, Value x, List<Long> sizes) {
        String mode = operation.text("mode", "constant");
        Value pads = algebra.graph().wholes("pads", operation.pads());
        List<Value> inputs = mode.equals("constant")
                ? List.of(x, pads, algebra.graph().number(operation.number(2, "value", 0)))
                : List.of(x, pads);
        return node("Pad", sizes, inputs, Attribute.of("mode", mode));
    }

    private Value resized(Operation operation, Value x, List<Long> sizes) {
        String mode = operation.text("mode", "nearest");
        if (!mode.equals("nearest")) {
            return windows().resize(x, sizes.get(2), sizes.get(3), mode.equals("cubic") ? mode : "linear");
        }
        List<long[]> places = operation.nearest();
        return algebra.gather(algebra.gather(x, places.get(0), 2), places.get(1), 3);
    }
}
