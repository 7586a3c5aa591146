package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.backbone.onnx.BoundOperator;
import org.gramian.backbone.onnx.HostTensor;
import org.gramian.backbone.onnx.MapOperators;
import org.gramian.backbone.onnx.OnnxNode;
import org.gramian.backbone.onnx.Operand;
import org.gramian.backbone.onnx.Segment;
import org.gramian.backbone.onnx.ShapeOperators;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Copies the nodes of a network that was read from an ONNX file.
 *
 * <p>Constants that depend on sizes are those of the exported image size, and the number of images is dynamic. Operators whose
 * form differs between operator sets, or that older ones lack, become formulas.
 */
final class ImportedNodes {
    private final Graph graph;
    private final HostParameters parameters;
    private final Map<String, Value> values = new HashMap<>();

    ImportedNodes(Graph graph, HostParameters parameters) {
        this.graph = graph;
        this.parameters = parameters;
    }

    /** Copies a part of a network; input and output have the layouts of {@link Segment#apply}. */
    Value copy(Segment segment, Value state) {
        Value entering = switch (segment.ends().entering().kind()) {
            case MAPS, TOKENS -> state;
            case CHANNELS_LAST -> state.permute(0, 2, 3, 1);
            case VECTOR -> state.flatten();
        };
        values.put(segment.ends().input(), entering);
        long[] sizes = longs(entering.sizes());
        sizes[0] = 1;
        for (BoundOperator planned : segment.nodes(Shape.of(sizes))) {
            List<Value> results = planned.node().operator().equals("Split") ? split(planned) : List.of(result(planned));
            for (int i = 0; i < results.size(); i++) {
                values.put(planned.node().outputs().get(i), results.get(i));
            }
        }
        Value leaving = value(segment.ends().output());
        return switch (segment.ends().leaving().kind()) {
            case MAPS, TOKENS -> leaving;
            case CHANNELS_LAST -> leaving.permute(0, 3, 1, 2);
            case VECTOR -> leaving.reshape(leaving.at(1), 1, 1);
        };
    }

    private static List<Long> list(Shape shape) {
        return Arrays.stream(shape.sizes()).boxed().toList();
    }

    private static List<Long> sizes(Operand operand) {
        List<Long> sizes = new ArrayList<>(list(operand.shape()));
        if (operand.batch() >= 0) {
            sizes.set(operand.batch(), Value.BATCH);
        }
        return sizes;
    }

    private static long[] longs(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    private Value value(String name) {
        Value known = values.get(name);
        return known != null ? known : parameters.value(name);
    }

    private Value in(BoundOperator planned, int i) {
        String name = planned.node().inputs().get(i);
        HostTensor constant = planned.at().inputs().get(i).constant();
        String operator = planned.node().operator();
        if (name.isEmpty()) {
            return Value.absent(graph);
        } else if (constant == null) {
            return value(name);
        } else if (i == 1 && (operator.equals("Gather") || operator.equals("Pad"))) {
            return graph.constant("constant", constant);
        } else if (i == 0 && operator.equals("Where")) {
            return graph.booleans("condition", constant);
        }
        return constant.shape().rank() == 0
                ? graph.number(constant.values()[0])
                : graph.constant("constant", list(constant.shape()), constant.values());
    }

    private List<Value> inputs(BoundOperator planned) {
        return IntStream.range(0, planned.node().inputs().size())
                .mapToObj(i -> in(planned, i))
                .toList();
    }

    private Value result(BoundOperator planned) {
        OnnxNode node = planned.node();
        List<Long> sizes = sizes(planned.outputs().getFirst());
        return switch (node.operator()) {
            case "Identity", "Dropout", "Cast" -> in(planned, 0); // data stays in float32
            case "Reshape", "Flatten", "Squeeze", "Unsqueeze" -> reshaped(in(planned, 0), sizes);
            case "Expand" -> expanded(in(planned, 0), sizes);
            case "Concat" -> concatenated(planned);
            case "Slice" -> sliced(in(planned, 0), ShapeOperators.ranges(planned.at()));
            case "ReduceMean", "ReduceSum" -> reduced(planned, in(planned, 0), sizes);
            case "Softmax" -> softmax(planned, in(planned, 0));
            case "Resize" -> resized(planned, in(planned, 0), sizes);
            case "HardSwish" -> in(planned, 0).activated(Activation.HARD_SWISH);
            case "Gelu" ->
                node.text("approximate", "none").equals("tanh")
                        ? in(planned, 0).tanhGelu()
                        : in(planned, 0).gelu();
            case "LayerNormalization" -> {
                Value beta = node.has(2) ? in(planned, 2) : graph.number(0);
                yield in(planned, 0).layerNorm(in(planned, 1), beta, node.number("epsilon", 1e-5));
            }
            case "BatchNormalization" -> {
                Map<String, Object> epsilon = Map.of("epsilon", node.number("epsilon", 1e-5));
                yield graph.node(node.operator(), sizes, inputs(planned), epsilon);
            }
            default -> {
                Map<String, Object> attributes = new HashMap<>(node.attributes());
                if (node.operator().equals("AveragePool")) {
                    attributes.remove("dilations"); // of size 1; an attribute since opset 19
                }
                yield graph.node(node.operator(), sizes, inputs(planned), attributes);
            }
        };
    }

    /** Reshapes a value; the batch dimension, if there is one, follows from the other sizes. */
    private Value reshaped(Value x, List<Long> sizes) {
        return x.sizes().equals(sizes)
                ? x
                : graph.node("Reshape", sizes, List.of(x, graph.integers("sizes", longs(sizes))));
    }

    private Value expanded(Value x, List<Long> sizes) {
        long[] target =
                sizes.stream().mapToLong(size -> size == Value.BATCH ? 1 : size).toArray(); // 1 keeps the size
        return x.sizes().equals(sizes) ? x : graph.node("Expand", sizes, List.of(x, graph.integers("sizes", target)));
    }

    private Value softmax(BoundOperator planned, Value x) {
        boolean flat = planned.at().opset() < 13;
        int axis = planned.at().axis(flat ? 1 : -1);
        if (!flat || axis == x.rank() - 1) {
            return x.softmax(axis);
        }
        long each = x.sizes().stream().skip(axis).reduce(1L, Math::multiplyExact);
        return reshaped(reshaped(x, List.of(Value.BATCH, each)).softmax(1), x.sizes());
    }

    private Value reduced(BoundOperator planned, Value x, List<Long> sizes) {
        int[] axes = ShapeOperators.reduction(planned.at()).axes();
        boolean mean = planned.node().operator().equals("ReduceMean");
        return reshaped(mean ? x.mean(axes) : x.sum(axes), sizes);
    }

    private Value concatenated(BoundOperator planned) {
        int images = planned.outputs().getFirst().batch();
        List<Value> parts = new ArrayList<>(inputs(planned));
        if (images >= 0) {
            parts.replaceAll(part -> part.at(images) == Value.BATCH ? part : repeated(part, parts, images));
        }
        return graph.concat(parts, planned.at().axis(1));
    }

    /** Repeats a constant or weight for each image by adding 0 times one element of each image of the data. */
    private Value repeated(Value part, List<Value> parts, int images) {
        Value data = parts.stream()
                .filter(value -> value.at(images) == Value.BATCH)
                .findFirst()
                .orElseThrow(() -> new NotExpressibleException("a sequence of weights for each image"));
        int[] others = IntStream.range(0, data.rank()).filter(i -> i != images).toArray();
        long[] ones = LongStream.generate(() -> 1).limit(others.length).toArray();
        return data.slice(others, new long[others.length], ones).scale(0).add(part);
    }

    private Value sliced(Value x, List<ShapeOperators.Range> ranges) {
        Value part = x;
        for (ShapeOperators.Range range : ranges) {
            boolean all = range.start() == 0 && range.step() == 1 && range.count() == part.at(range.axis());
            if (part.at(range.axis()) == Value.BATCH || all) {
                continue; // all of them: others are refused when the network is imported
            }
            part = range.step() == 1
                    ? part.slice(range.axis(), range.start(), range.start() + range.count())
                    : part.gather(range.indexes(), range.axis());
        }
        return part;
    }

    private List<Value> split(BoundOperator planned) {
        int axis = planned.at().axis(0);
        List<Value> parts = new ArrayList<>();
        long start = 0;
        for (Operand output : planned.outputs()) {
            long end = start + output.shape().at(axis);
            parts.add(in(planned, 0).slice(axis, start, end));
            start = end;
        }
        return parts;
    }

    private Value resized(BoundOperator planned, Value x, List<Long> sizes) {
        String mode = planned.node().text("mode", "nearest");
        if (!mode.equals("nearest")) {
            return x.resize(sizes.get(2), sizes.get(3), mode.equals("cubic") ? mode : "linear");
        }
        List<long[]> indexes = MapOperators.nearest(planned.at());
        return x.gather(indexes.get(0), 2).gather(indexes.get(1), 3);
    }
}
