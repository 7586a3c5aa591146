package org.gramian.backbone.onnx;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Shape;

/** Graph of an ONNX file without its weights: only the operators that the output needs, in topological order. */
public record OnnxGraph(
        int opset,
        Input input,
        String output,
        List<OnnxNode> nodes,
        SequencedMap<String, HostTensor> constants,
        SequencedMap<String, Shape> weights) {
    public static final int OLDEST_OPSET = 7;

    public static final int NEWEST_OPSET = 21;

    static final int MAX_NODES = 20_000;

    /** Largest number of elements of all weights: 4 GiB in float32. */
    private static final long MAX_WEIGHTS = 1L << 30;

    private static final long COLOURS = 3;

    /**
     * Image input.
     *
     * @param sizes sizes {@code [n, 3, h, w]}, −1 where dynamic
     */
    public record Input(String name, List<Long> sizes) {
        public Input {
            sizes = List.copyOf(sizes);
        }

        long size(int dimension, long defaultValue) {
            return sizes.get(dimension) < 0 ? defaultValue : sizes.get(dimension);
        }

        /** Returns whether the file was exported for one image at a time. */
        boolean single() {
            return sizes.getFirst() == 1;
        }
    }

    /** Removes what the output does not need and sorts the nodes. */
    public OnnxGraph {
        if (opset < OLDEST_OPSET || opset > NEWEST_OPSET) {
            throw new IllegalArgumentException("expected the operator set " + OLDEST_OPSET + " to " + NEWEST_OPSET
                    + ", found " + opset + "; export with opset_version=17");
        }
        requireImages(input);
        Set<String> given = new HashSet<>(constants.keySet());
        given.addAll(weights.keySet());
        given.add(input.name());
        nodes = sorted(makers(nodes, given), output, given);
        Set<String> used = new HashSet<>();
        nodes.forEach(node -> used.addAll(node.inputs()));
        SequencedMap<String, HostTensor> usedConstants = new LinkedHashMap<>(constants);
        usedConstants.keySet().retainAll(used);
        constants = Collections.unmodifiableSequencedMap(usedConstants);
        SequencedMap<String, Shape> usedWeights = new LinkedHashMap<>(weights);
        usedWeights.keySet().retainAll(used);
        weights = Collections.unmodifiableSequencedMap(usedWeights);
        requireWeights(weights);
    }

    private static void requireWeights(Map<String, Shape> weights) {
        long elements = weights.values().stream()
                .mapToLong(shape -> Math.min(shape.elements(), MAX_WEIGHTS + 1))
                .sum();
        if (elements > MAX_WEIGHTS) {
            throw new IllegalArgumentException(
                    "expected at most " + MAX_WEIGHTS + " weights in all, found " + elements);
        }
    }

    private static void requireImages(Input input) {
        List<Long> sizes = input.sizes();
        if (sizes.size() != 4 || (sizes.get(1) != COLOURS && sizes.get(1) != -1)) {
            throw new IllegalArgumentException("expected images [n, 3, height, width] as input, found "
                    + QuotedText.text(input.name()) + " " + sizes + " (-1: dynamic)"
                    + (sizes.size() == 4 && sizes.get(3) == COLOURS
                            ? "; channels last: convert with tf2onnx --inputs-as-nchw"
                            : "; export the network with an image batch as its only input"));
        }
        if (sizes.getFirst() > 1) {
            throw new IllegalArgumentException("expected a dynamic batch size or 1, found " + sizes.getFirst()
                    + "; export with dynamic_axes={'" + QuotedText.bare(input.name()) + "': {0: 'n'}}");
        }
    }

    private static Map<String, OnnxNode> makers(List<OnnxNode> nodes, Set<String> given) {
        Map<String, OnnxNode> makers = new HashMap<>();
        for (OnnxNode node : nodes) {
            for (String name : node.outputs()) {
                if (!name.isEmpty() && (makers.put(name, node) != null || given.contains(name))) {
                    throw node.error("expected every tensor once, found " + QuotedText.text(name) + " twice");
                }
            }
        }
        return makers;
    }

    /** Sorts the ancestors of the output, depth first without recursion. */
    private static List<OnnxNode> sorted(Map<String, OnnxNode> makers, String output, Set<String> given) {
        OnnxNode last = makers.get(output);
        if (last == null) {
            throw new IllegalArgumentException("no node computes the output " + QuotedText.text(output));
        }
        List<OnnxNode> sorted = new ArrayList<>();
        IdentityHashMap<OnnxNode, Integer> visited =
                new IdentityHashMap<>(); // number of inputs looked at, −1 when done
        Deque<OnnxNode> path = new ArrayDeque<>(List.of(last));
        visited.put(last, 0);
        while (!path.isEmpty()) {
            OnnxNode node = path.peek();
            int next = visited.getOrDefault(node, 0);
            if (next == node.inputs().size()) {
                visited.put(node, -1);
                sorted.add(node);
                path.pop();
                continue;
            }
            visited.put(node, next + 1);
            String name = node.inputs().get(next);
            OnnxNode maker = makers.get(name);
            if (maker == null && !name.isEmpty() && !given.contains(name)) {
                throw node.error("the input " + QuotedText.text(name) + " is not defined anywhere in the file");
            }
            if (maker != null && visited.getOrDefault(maker, -1) >= 0) {
                throw node.error("the graph has a cycle through " + QuotedText.text(name));
            }
            if (maker != null && !visited.containsKey(maker)) {
                visited.put(maker, 0);
                path.push(maker);
            }
        }
        return List.copyOf(sorted);
    }

    /** Returns the graph as an ONNX file in Base64 whose weights have names and sizes, but no elements. */
    public String definition() {
        return OnnxWriter.definition(this);
    }

    public static OnnxGraph of(String definition) {
        return OnnxFile.graph(definition);
    }
}
