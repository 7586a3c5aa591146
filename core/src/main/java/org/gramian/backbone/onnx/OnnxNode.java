package org.gramian.backbone.onnx;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.QuotedText;

/**
 * Operator of a graph.
 *
 * @param name for messages; may be empty
 * @param operator type, such as {@code Conv}
 * @param inputs names of tensors; an empty name is an absent optional input
 * @param outputs names of tensors
 * @param numbers attributes that are numbers or lists of numbers
 * @param texts attributes that are texts
 */
public record OnnxNode(
        String name,
        String operator,
        List<String> inputs,
        List<String> outputs,
        Map<String, HostTensor> numbers,
        Map<String, String> texts) {
    public OnnxNode {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        numbers = Collections.unmodifiableMap(new LinkedHashMap<>(numbers));
        texts = Collections.unmodifiableMap(new LinkedHashMap<>(texts));
    }

    /** Returns the first output. */
    String output() {
        return outputs.getFirst();
    }

    /** Returns whether an optional input is present. */
    boolean has(int input) {
        return input < inputs.size() && !inputs.get(input).isEmpty();
    }

    /** Returns the integers of an attribute, or the default. */
    long[] longs(String attribute, long... otherwise) {
        HostTensor value = numbers.get(attribute);
        return value == null ? otherwise : value.longs();
    }

    /** Returns the integer of an attribute, or the default. */
    long whole(String attribute, long otherwise) {
        return (long) number(attribute, (double) otherwise);
    }

    /** Returns the number of an attribute, or the default. */
    double number(String attribute, double otherwise) {
        HostTensor value = numbers.get(attribute);
        if (value != null && value.values().length != 1) {
            throw error("expected one number for the attribute " + attribute + ", found " + value);
        }
        return value == null ? otherwise : value.values()[0];
    }

    /** Returns the text of an attribute, or the default. */
    String text(String attribute, String otherwise) {
        return texts.getOrDefault(attribute, otherwise);
    }

    /** Returns an error that names this node. */
    IllegalArgumentException error(String problem) {
        return new IllegalArgumentException(this + ": " + problem);
    }

    @Override
    public String toString() {
        String shown = name.isEmpty() ? (outputs.isEmpty() ? "" : outputs.getFirst()) : name;
        return "node " + QuotedText.text(shown) + " (" + QuotedText.bare(operator) + ")";
    }
}
