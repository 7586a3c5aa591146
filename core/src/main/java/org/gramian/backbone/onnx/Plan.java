package org.gramian.backbone.onnx;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Execution plan of a part of an ONNX graph for one shape of its input: shapes and constants are computed here, once;
 * the other operators run on the tape.
 *
 * <p>A file exported for one image has the batch size 1 in its constants. Such a graph is planned for one image; the
 * dimension that holds the batch is known for every tensor and is multiplied by the number of images wherever a size is
 * written out, see {@link NodeContext#sizes}.
 */
final class Plan {
    /** A last resort: elements of constants and nodes are bounded. */
    private static final long MAX_NANOS = Duration.ofSeconds(30).toNanos();

    private final String input;
    private final String output;
    private final OnnxGraph graph;
    private final Map<String, Operand> known = new HashMap<>();
    private final List<BoundOperator> steps = new ArrayList<>();

    /**
     * Plans for a shape of the input.
     *
     * @param given constants that other parts of the graph compute
     * @param folded elements of constants read and computed so far
     */
    Plan(
            OnnxGraph graph,
            List<OnnxNode> nodes,
            String input,
            String output,
            Map<String, HostTensor> given,
            Shape state,
            AtomicLong folded) {
        this.graph = graph;
        this.input = input;
        this.output = output;
        boolean single = graph.input().single();
        Shape one = single ? state.with(0, 1) : state;
        known.put(input, Operand.computed(one, 0));
        given.forEach((name, value) -> known.put(name, Operand.of(value)));
        long end = System.nanoTime() + MAX_NANOS;
        for (OnnxNode node : nodes) {
            if (System.nanoTime() - end > 0) {
                throw node.error("expected shapes that can be computed within 30 s");
            }
            List<Operand> inputs =
                    node.inputs().stream().map(name -> operand(node, name)).toList();
            NodeContext context =
                    new NodeContext(node, inputs, graph.opset(), one.at(0), single ? state.at(0) : 1, folded);
            inputs.stream()
                    .filter(operand -> operand.constant() != null)
                    .forEach(constant -> context.countFolded(constant.shape().elements()));
            BoundOperator bound = Operators.bind(context);
            for (int i = 0; i < Math.min(bound.outputs().size(), node.outputs().size()); i++) {
                known.put(node.outputs().get(i), bound.outputs().get(i));
            }
            if (bound.outputs().getFirst().constant() == null) {
                steps.add(bound);
            }
        }
        prune();
    }

    private Operand operand(OnnxNode node, String name) {
        HostTensor constant = graph.constants().get(name);
        Shape weight = graph.weights().get(name);
        // tensors of the file are looked up when a node reads them: a graph may have many segments
        Operand operand = name.isEmpty() ? Operand.ABSENT : known.get(name);
        if (operand == null && constant != null) {
            return Operand.of(constant);
        }
        if (operand == null && weight != null) {
            return Operand.computed(weight, -1);
        }
        if (operand == null) {
            throw node.error("the input '" + name + "' is an output that is not supported");
        }
        return operand;
    }

    /** Removes steps that only shapes needed. */
    private void prune() {
        Set<String> needed = new HashSet<>(Set.of(output));
        List<BoundOperator> kept = new ArrayList<>();
        for (BoundOperator step : steps.reversed()) {
            OnnxNode node = step.node();
            if (node.outputs().stream().anyMatch(needed::contains)) {
                kept.add(step);
                for (int i = 0; i < node.inputs().size(); i++) {
                    if (step.at().in(i).constant() == null) {
                        needed.add(node.inputs().get(i));
                    }
                }
            }
        }
        steps.clear();
        steps.addAll(kept.reversed());
    }

    /** Returns the operators with the sizes and constants of this plan. */
    List<BoundOperator> steps(Plan many) {
        return steps.stream().map(step -> marked(step, many)).toList();
    }

    private BoundOperator marked(BoundOperator step, Plan many) {
        NodeContext at = step.at();
        List<Operand> inputs = many.marked(step.node().inputs(), at.inputs());
        NodeContext context = new NodeContext(step.node(), inputs, at.opset(), at.batch(), at.images(), at.folded());
        return new BoundOperator(context, many.marked(step.node().outputs(), step.outputs()), step.kernel());
    }

    private List<Operand> marked(List<String> names, List<Operand> operands) {
        List<Operand> marked = new ArrayList<>();
        for (int i = 0; i < Math.min(names.size(), operands.size()); i++) {
            Operand operand = operands.get(i);
            int batch = known.getOrDefault(names.get(i), Operand.ABSENT).batch();
            marked.add(new Operand(operand.shape(), operand.constant(), batch, operand.outer()));
        }
        return marked;
    }

    @Nullable
    Operand get(String tensor) {
        return known.get(tensor);
    }

    long largest() {
        return known.values().stream()
                .filter(Operand::data)
                .mapToLong(operand -> operand.shape().elements())
                .max()
                .orElse(0);
    }

    /** Returns what is known of the output. */
    Operand output() {
        Operand found = known.get(output);
        if (found == null || found.constant() != null) {
            throw new IllegalArgumentException(
                    "the output '" + output + "' does not depend on the images; is it the right output?");
        }
        return found;
    }

    Var run(Var state, Bindings parameters) {
        Map<String, Var> values = new HashMap<>();
        values.put(input, state);
        for (BoundOperator step : steps) {
            OnnxNode node = step.node();
            List<@Nullable Var> inputs = new ArrayList<>();
            for (int i = 0; i < node.inputs().size(); i++) {
                String name = node.inputs().get(i);
                boolean constant = step.at().in(i).constant() != null;
                Var value = constant ? null : values.get(name);
                inputs.add(constant || value != null ? value : parameters.get(name));
            }
            List<Var> results =
                    step.kernel().apply(new BoundOperator.Arguments(state.tape(), state.value(), inputs, step.at()));
            for (int i = 0; i < Math.min(results.size(), node.outputs().size()); i++) {
                values.put(node.outputs().get(i), results.get(i));
            }
        }
        return Objects.requireNonNull(values.get(output), output);
    }
}
