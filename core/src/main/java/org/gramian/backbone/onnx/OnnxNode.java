package org.gramian.backbone.onnx;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gramian.basis.QuotedText;

/**
 * Operator of a graph.
 *
 * @param inputs names of tensors; an empty name is an absent optional input
 * @param attributes by name, each a {@link HostTensor} or a text
 */
public record OnnxNode(
        String name, String operator, List<String> inputs, List<String> outputs, Map<String, Object> attributes) {
    public OnnxNode {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        attributes = Collections.unmodifiableMap(new TreeMap<>(attributes));
    }

    OnnxNode withInputs(List<String> otherInputs) {
        return new OnnxNode(name, operator, otherInputs, outputs, attributes);
    }

    String output() {
        return outputs.getFirst();
    }

    public boolean has(int input) {
        return input < inputs.size() && !inputs.get(input).isEmpty();
    }

    public long[] integers(String attribute, long... defaultValue) {
        return attributes.get(attribute) instanceof HostTensor value ? value.integers() : defaultValue;
    }

    public long integer(String attribute, long defaultValue) {
        return (long) number(attribute, (double) defaultValue);
    }

    public double number(String attribute, double defaultValue) {
        if (!(attributes.get(attribute) instanceof HostTensor value)) {
            return defaultValue;
        }
        if (value.values().length != 1) {
            throw error("expected one number for the attribute " + attribute + ", found " + value);
        }
        return value.values()[0];
    }

    public String text(String attribute, String defaultValue) {
        return attributes.get(attribute) instanceof String text ? text : defaultValue;
    }

    IllegalArgumentException error(String problem) {
        return new IllegalArgumentException(this + ": " + problem);
    }

    @Override
    public String toString() {
        String shown = name.isEmpty() && !outputs.isEmpty() ? outputs.getFirst() : name;
        return "node " + QuotedText.text(shown) + " (" + QuotedText.bare(operator) + ")";
    }
}
