package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    /** Maximum number of elements of all constants that are computed, and of the inputs that they are computed from. */
    static final long MAX_FOLDED_ELEMENTS = 1L << 26;

    private record Step(NodeContext at, BoundOperator operator) {}

    private final Task task;
    private final Map<String, Operand> known = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private long folded;

    /**
     * Part of a graph to plan.
     *
     * @param given constants that other parts of the graph compute
     */
    record Task(OnnxGraph graph, List<OnnxNode> nodes, String input, String output, Map<String, HostTensor> given) {}

    /**
     * Plans for a shape of the input.
     *
     * @param state shape of the input, the batch first
     * @throws IllegalArgumentException if the graph does not support the shape; the message names the node
     */
    Plan(Task task, Shape state) {
        this.task = task;
        boolean single = task.graph().input().single();
        Shape one = single ? state.with(0, 1) : state;
        known.put(task.input(), Operand.computed(one, 0));
        task.graph().constants().forEach((name, value) -> known.put(name, Operand.of(value)));
        task.graph().weights().forEach((name, shape) -> known.put(name, Operand.computed(shape, -1)));
        task.given().forEach((name, value) -> known.put(name, Operand.of(value)));
        for (OnnxNode node : task.nodes()) {
            add(node, one.at(0), single ? state.at(0) : 1);
        }
        prune();
    }

    private void add(OnnxNode node, long batch, long images) {
        List<Operand> inputs = new ArrayList<>();
        for (String name : node.inputs()) {
            Operand operand = name.isEmpty() ? Operand.ABSENT : known.get(name);
            if (operand == null) {
                throw node.error("the input '" + name + "' is an output that is not supported");
            }
            inputs.add(operand);
        }
        NodeContext at = new NodeContext(node, inputs, task.graph().opset(), batch, images);
        boolean constant = inputs.stream().allMatch(operand -> operand.constant() != null);
        List<Operand> outputs;
        if (constant || node.operator().equals("Shape") || node.operator().equals("Size")) {
            countFolded(at, constant ? inputs : List.of());
            outputs = HostMath.fold(at).stream().map(Operand::of).toList();
        } else {
            BoundOperator operator = bind(at);
            outputs = operator.outputs();
            steps.add(new Step(at, operator));
        }
        for (int i = 0; i < Math.min(outputs.size(), node.outputs().size()); i++) {
            known.put(node.outputs().get(i), outputs.get(i));
        }
        countFolded(at, outputs);
    }

    /** Adds the elements of constants to their total, which is bounded. */
    private void countFolded(NodeContext at, List<Operand> operands) {
        for (Operand operand : operands) {
            folded += operand.constant() == null ? 0 : operand.shape().elements();
        }
        if (folded > MAX_FOLDED_ELEMENTS) {
            throw at.error(
                    "expected constants of at most " + MAX_FOLDED_ELEMENTS + " elements in all, found " + folded);
        }
    }

    private static BoundOperator bind(NodeContext at) {
        BoundOperator operator;
        try {
            operator = Operators.bind(at);
        } catch (IndexOutOfBoundsException | ArithmeticException problem) {
            throw at.error("impossible sizes: " + problem.getMessage());
        }
        for (Operand output : operator.outputs()) {
            ShapeRules.shape(at.node(), output.shape().sizes());
            if (output.shape().elements() == 0) {
                throw at.error("the result " + output.shape() + " is empty: the images are too small");
            }
        }
        return operator;
    }

    /** Removes steps that only shapes needed. */
    private void prune() {
        Set<String> needed = new HashSet<>(Set.of(task.output()));
        List<Step> kept = new ArrayList<>();
        for (Step step : steps.reversed()) {
            OnnxNode node = step.at.node();
            if (node.outputs().stream().anyMatch(needed::contains)) {
                kept.add(step);
                for (int i = 0; i < node.inputs().size(); i++) {
                    if (step.at.in(i).constant() == null) {
                        needed.add(node.inputs().get(i));
                    }
                }
            }
        }
        steps.clear();
        steps.addAll(kept.reversed());
    }

    /**
     * Returns the operators with the sizes and constants of this plan.
     *
     * @param many a plan for several images, to tell the dimension of the images of each tensor
     */
    List<PlannedNode> nodes(Plan many) {
        return steps.stream()
                .map(step -> new PlannedNode(
                        step.at,
                        step.at.node().inputs().stream()
                                .map(name -> tensor(name, many))
                                .toList(),
                        step.at.node().outputs().stream()
                                .filter(known::containsKey)
                                .map(name -> tensor(name, many))
                                .toList()))
                .toList();
    }

    private PlannedNode.Tensor tensor(String name, Plan many) {
        Operand operand = known.getOrDefault(name, Operand.ABSENT);
        Operand several = many.known.getOrDefault(name, Operand.ABSENT);
        long[] sizes = operand.shape().sizes();
        if (several.data()) {
            sizes[several.batch()] = -1;
        }
        return new PlannedNode.Tensor(name, Arrays.stream(sizes).boxed().toList(), operand.constant());
    }

    /** Returns what is known of a tensor, or null if there is none of that name. */
    @Nullable
    Operand get(String tensor) {
        return known.get(tensor);
    }

    /** Returns the number of elements of the largest tensor that is computed. */
    long largest() {
        return known.values().stream()
                .filter(Operand::data)
                .mapToLong(operand -> operand.shape().elements())
                .max()
                .orElse(0);
    }

    /**
     * Returns what is known of the output.
     *
     * @throws IllegalArgumentException if it does not depend on the images
     */
    Operand output() {
        Operand output = known.get(task.output());
        if (output == null || output.constant() != null) {
            throw new IllegalArgumentException(
                    "the output '" + task.output() + "' does not depend on the images; is it the right output?");
        }
        return output;
    }

    /** Computes the output. */
    Var run(Var state, Bindings parameters) {
        Map<String, Var> values = new HashMap<>();
        values.put(task.input(), state);
        for (Step step : steps) {
            OnnxNode node = step.at.node();
            List<@Nullable Var> inputs = new ArrayList<>();
            for (int i = 0; i < node.inputs().size(); i++) {
                String name = node.inputs().get(i);
                boolean constant = step.at.in(i).constant() != null;
                Var value = constant ? null : values.get(name);
                inputs.add(constant || value != null ? value : parameters.get(name));
            }
            List<Var> results = step.operator
                    .kernel()
                    .apply(new BoundOperator.Arguments(state.tape(), state.value(), inputs, step.at.inputs()));
            for (int i = 0; i < Math.min(results.size(), node.outputs().size()); i++) {
                values.put(node.outputs().get(i), results.get(i));
            }
        }
        Var output = values.get(task.output());
        if (output == null) {
            throw new IllegalStateException("no step computes " + task.output());
        }
        return output;
    }
}
