package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Shape;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * JSON text of a graph:
 *
 * <pre>{@code
 * {"opset": 17, "input": {"name": "images", "sizes": [-1, 3, -1, -1]}, "output": "logits",
 *  "nodes": [{"name": "/conv1/Conv", "operator": "Conv", "inputs": ["images", "conv1.weight"], "outputs": ["y"],
 *             "attributes": {"strides": [2, 2], "auto_pad": "NOTSET"}}],
 *  "constants": {"axes": {"whole": true, "shape": [1], "values": [1.0]}},
 *  "weights": {"conv1.weight": [64, 3, 7, 7]}}
 * }</pre>
 *
 * <p>An attribute whose numbers are all written without a decimal point is an integer or a list of integers.
 */
final class GraphJson {
    private static final JsonMapper JSON = JsonMapper.shared();

    private GraphJson() {}

    static String text(OnnxGraph graph) {
        ObjectNode root = JSON.createObjectNode();
        root.put("opset", graph.opset());
        ObjectNode input = root.putObject("input").put("name", graph.input().name());
        ArrayNode sizes = input.putArray("sizes");
        graph.input().sizes().forEach(sizes::add);
        root.put("output", graph.output());
        ArrayNode nodes = root.putArray("nodes");
        graph.nodes().forEach(node -> write(node, nodes.addObject()));
        ObjectNode constants = root.putObject("constants");
        graph.constants().forEach((name, value) -> {
            ObjectNode constant = constants.putObject(name).put("whole", value.whole());
            write(value.shape(), constant.putArray("shape"));
            ArrayNode values = constant.putArray("values");
            for (double element : value.values()) {
                values.add(element);
            }
        });
        ObjectNode weights = root.putObject("weights");
        graph.weights().forEach((name, shape) -> write(shape, weights.putArray(name)));
        return JSON.writeValueAsString(root);
    }

    private static void write(Shape shape, ArrayNode target) {
        for (long size : shape.sizes()) {
            target.add(size);
        }
    }

    private static void write(OnnxNode node, ObjectNode target) {
        target.put("name", node.name()).put("operator", node.operator());
        node.inputs().forEach(target.putArray("inputs")::add);
        node.outputs().forEach(target.putArray("outputs")::add);
        ObjectNode attributes = target.putObject("attributes");
        node.texts().forEach(attributes::put);
        node.numbers().forEach((name, value) -> {
            boolean scalar = value.shape().rank() == 0;
            if (scalar && value.whole()) {
                attributes.put(name, (long) value.values()[0]);
            } else if (scalar) {
                attributes.put(name, value.values()[0]);
            } else {
                ArrayNode list = attributes.putArray(name);
                for (double element : value.values()) {
                    if (value.whole()) {
                        list.add((long) element);
                    } else {
                        list.add(element);
                    }
                }
            }
        });
    }

    static OnnxGraph graph(String json) {
        try {
            JsonNode root = JSON.readTree(json);
            JsonNode input = field(root, "input");
            List<OnnxNode> nodes = new ArrayList<>();
            for (JsonNode node : field(root, "nodes")) {
                nodes.add(node(node));
            }
            SequencedMap<String, HostTensor> constants = new LinkedHashMap<>();
            for (Map.Entry<String, JsonNode> entry : field(root, "constants").properties()) {
                JsonNode value = entry.getValue();
                constants.put(
                        entry.getKey(),
                        new HostTensor(
                                field(value, "whole").asBoolean(),
                                shape(field(value, "shape")),
                                doubles(field(value, "values"))));
            }
            SequencedMap<String, Shape> weights = new LinkedHashMap<>();
            for (Map.Entry<String, JsonNode> entry : field(root, "weights").properties()) {
                weights.put(entry.getKey(), shape(entry.getValue()));
            }
            List<Long> sizes = new ArrayList<>();
            field(input, "sizes").forEach(size -> sizes.add(size.asLong()));
            return new OnnxGraph(
                    field(root, "opset").asInt(),
                    new OnnxGraph.Input(field(input, "name").asString(), sizes),
                    field(root, "output").asString(),
                    nodes,
                    constants,
                    weights);
        } catch (JacksonException damaged) {
            throw new IllegalArgumentException(
                    "expected a network definition in JSON, found " + damaged.getOriginalMessage(), damaged);
        }
    }

    private static JsonNode field(JsonNode object, String name) {
        JsonNode value = object.get(name);
        if (value == null) {
            throw new IllegalArgumentException("expected the field " + name + " in the network definition, found "
                    + QuotedText.text(object.toString()));
        }
        return value;
    }

    private static OnnxNode node(JsonNode node) {
        Map<String, HostTensor> numbers = new LinkedHashMap<>();
        Map<String, String> texts = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : field(node, "attributes").properties()) {
            JsonNode value = entry.getValue();
            if (value.isString()) {
                texts.put(entry.getKey(), value.asString());
            } else if (value.isArray()) {
                boolean whole = value.valueStream().allMatch(JsonNode::isIntegralNumber);
                numbers.put(entry.getKey(), new HostTensor(whole, Shape.of(value.size()), doubles(value)));
            } else {
                numbers.put(entry.getKey(), HostTensor.scalar(value.isIntegralNumber(), value.asDouble()));
            }
        }
        return new OnnxNode(
                field(node, "name").asString(),
                field(node, "operator").asString(),
                texts(field(node, "inputs")),
                texts(field(node, "outputs")),
                numbers,
                texts);
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asString).toList();
    }

    private static double[] doubles(JsonNode list) {
        return list.valueStream().mapToDouble(JsonNode::asDouble).toArray();
    }

    private static Shape shape(JsonNode list) {
        return Shape.of(list.valueStream().mapToLong(JsonNode::asLong).toArray());
    }
}
