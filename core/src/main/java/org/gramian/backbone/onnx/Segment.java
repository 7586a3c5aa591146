package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Part of a graph between two tensors through which all of the computation flows.
 *
 * <p>Shapes and constants are planned once for each size of the input, see {@link Plan}.
 */
public final class Segment {
    /** Sizes of which plans are kept; training uses one or two. */
    private static final int MAX_PLANS = 64;

    private final Ends ends;
    private final OnnxGraph graph;
    private final List<OnnxNode> nodes;
    private final Map<String, Crossing> crossings;
    private final List<ParameterSpec> parameters;
    private final Map<Shape, Plan> plans = new ConcurrentHashMap<>();

    /**
     * First and last tensor.
     *
     * @param grid tensor {@code [n, c, h, w]} of this segment that has the rows and columns of the tokens, or null if
     *     those of the input remain
     */
    public record Ends(
            String name,
            String input,
            Layout entering,
            String output,
            Layout leaving,
            long channels,
            @Nullable String grid) {}

    /** Constant that an earlier segment computes from the number of images, linear in it: for one and for several. */
    record Crossing(HostTensor one, HostTensor many) {
        HostTensor at(long n) {
            double[] values = one.values().clone();
            for (int i = 0; i < values.length; i++) {
                values[i] += (n - 1) * (many.values()[i] - one.values()[i]) / (Segments.IMAGES - 1.0);
            }
            return new HostTensor(one.whole(), one.shape(), values);
        }
    }

    Segment(
            Ends ends,
            OnnxGraph graph,
            List<OnnxNode> nodes,
            Map<String, Crossing> crossings,
            List<ParameterSpec> parameters) {
        this.ends = ends;
        this.graph = graph;
        this.nodes = List.copyOf(nodes);
        this.crossings = Map.copyOf(crossings);
        this.parameters = List.copyOf(parameters);
    }

    public Ends ends() {
        return ends;
    }

    /** Returns the parameters that no earlier segment has, under the names in the file. */
    public List<ParameterSpec> parameters() {
        return parameters;
    }

    /**
     * Returns the nodes of the file for one image of a size, in topological order, to be copied to another file.
     *
     * <p>Constants that depend on sizes are computed; the dimension of the images is that of several.
     */
    public List<BoundOperator> nodes(Shape state) {
        List<OnnxNode> unfused = new ArrayList<>();
        Set<String> needed = new HashSet<>(Set.of(ends.output));
        for (OnnxNode node : graph.nodes().reversed()) {
            if (node.outputs().stream().anyMatch(needed::contains)) {
                unfused.add(node);
                node.inputs().stream()
                        .filter(input -> !input.equals(ends.input) && !crossings.containsKey(input))
                        .forEach(needed::add);
            }
        }
        Plan one = plan(unfused.reversed(), state.with(0, 1));
        return one.steps(plan(unfused.reversed(), state.with(0, Segments.IMAGES)));
    }

    public String lastOperator() {
        return nodes.getLast().operator();
    }

    /** Returns the shape {@code [d, h, w]} of the feature maps of the output; a side is 0 if the size does not fit. */
    public Shape output(Shape maps) {
        try {
            Plan plan = plan(ends.entering.tensor(1, maps));
            Operand grid = ends.grid == null ? null : plan.get(ends.grid);
            long height = grid == null ? maps.at(1) : grid.size(2);
            long width = grid == null ? maps.at(2) : grid.size(3);
            Shape result = ends.leaving.maps(plan.output().shape(), height, width);
            boolean fits = ends.leaving.tensor(1, result).equals(plan.output().shape());
            return fits ? result : Shape.of(ends.channels, 0, 0);
        } catch (IllegalArgumentException doesNotFit) {
            return Shape.of(ends.channels, 0, 0);
        }
    }

    /**
     * Computes the output.
     *
     * @return feature maps {@code [n, d, h, w]}, or tokens {@code [n, t, d]}
     */
    public Var apply(Var state, Bindings weights) {
        Var input = ends.entering.tensor(state);
        return ends.leaving.passed(plan(input.shape()).run(input, weights));
    }

    public Var features(Var state, Shape maps) {
        return ends.leaving.features(state, maps);
    }

    private Plan plan(Shape state) {
        if (plans.size() >= MAX_PLANS && !plans.containsKey(state)) {
            plans.clear();
        }
        return plans.computeIfAbsent(state, size -> plan(nodes, size));
    }

    private Plan plan(List<OnnxNode> operators, Shape state) {
        Map<String, HostTensor> given = new HashMap<>();
        crossings.forEach((name, value) -> given.put(name, value.at(state.at(0))));
        return new Plan(graph, operators, ends.input, ends.output, given, state, new AtomicLong());
    }

    @Override
    public String toString() {
        return ends.name + " (" + nodes.size() + " operators)";
    }
}
