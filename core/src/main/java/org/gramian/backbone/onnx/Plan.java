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
import org.gramian.backbone.onnx.Planned.Arguments;
import org.gramian.backbone.onnx.Planned.Kernel;
import org.gramian.backbone.onnx.Planned.Site;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * Operators from one tensor to another for one size of the first: shapes and constants are computed here, once, and
 * what remains are functions on the tape.
 *
 * <p>A file exported for one image has the batch size 1 in its constants. Such a graph is planned for one image; the
 * dimension that holds the batch is known for every tensor and is multiplied by the number of images wherever a size is
 * written out, see {@link Planned.Site#sizes}.
 */
final class Plan {
    /** Largest number of elements of all constants that are computed. */
    private static final long FOLDED_ELEMENTS = 1L << 24;

    private record Step(OnnxNode node, List<Operand> operands, Kernel kernel) {}

    private final Task task;
    private final Map<String, Operand> known = new HashMap<>();
    private final List<Step> steps = new ArrayList<>();
    private long folded;

    /**
     * What to plan.
     *
     * @param graph constants, weights and operator set
     * @param nodes operators in topological order
     * @param input name of the tensor that is given
     * @param output name of the tensor that is computed
     * @param given constants that other parts of the graph compute
     */
    record Task(OnnxGraph graph, List<OnnxNode> nodes, String input, String output, Map<String, HostTensor> given) {}

    private Plan(Task task) {
        this.task = task;
    }

    /**
     * Plans for a size.
     *
     * @param state shape of the input, the batch first
     * @throws IllegalArgumentException if the size does not fit; the message names the node
     */
    static Plan of(Task task, Shape state) {
        Plan plan = new Plan(task);
        boolean single = task.graph().input().single();
        Shape one = single ? state.with(0, 1) : state;
        plan.known.put(task.input(), Operand.computed(one, 0));
        task.graph().constants().forEach((name, value) -> plan.known.put(name, Operand.of(value)));
        task.graph().weights().forEach((name, shape) -> plan.known.put(name, Operand.computed(shape, -1)));
        task.given().forEach((name, value) -> plan.known.put(name, Operand.of(value)));
        for (OnnxNode node : task.nodes()) {
            plan.add(node, one.at(0), single ? state.at(0) : 1);
        }
        plan.prune();
        return plan;
    }

    private void add(OnnxNode node, long batch, long images) {
        List<Operand> inputs = new ArrayList<>();
        boolean constant = true;
        for (String name : node.inputs()) {
            Operand operand = name.isEmpty() ? Operand.ABSENT : known.get(name);
            if (operand == null) {
                throw node.error("the input '" + name + "' is an output that is not supported");
            }
            inputs.add(operand);
            constant &= operand.constant() != null;
        }
        List<Operand> outputs;
        if (node.operator().equals("Shape")) {
            outputs = List.of(Operand.of(shape(node, inputs.getFirst())));
        } else if (node.operator().equals("Size")) {
            outputs = List.of(Operand.of(
                    HostTensor.scalar(true, (double) inputs.getFirst().shape().elements())));
        } else if (constant) {
            outputs = HostMath.fold(node, inputs.stream().map(Operand::constant).toList()).stream()
                    .map(Operand::of)
                    .toList();
        } else {
            Planned planned = plan(new Site(node, inputs, task.graph().opset(), batch, images));
            outputs = planned.outputs();
            steps.add(new Step(node, List.copyOf(inputs), planned.kernel()));
        }
        for (int i = 0; i < Math.min(outputs.size(), node.outputs().size()); i++) {
            Operand output = outputs.get(i);
            folded += output.constant() == null ? 0 : output.shape().elements();
            known.put(node.outputs().get(i), output);
        }
        if (folded > FOLDED_ELEMENTS) {
            throw node.error("expected constants of at most " + FOLDED_ELEMENTS + " elements in all, found more");
        }
    }

    private static Planned plan(Site at) {
        Planned planned;
        try {
            planned = Operators.plan(at);
        } catch (IndexOutOfBoundsException | ArithmeticException problem) {
            throw at.node().error("impossible sizes: " + problem.getMessage());
        }
        for (Operand output : planned.outputs()) {
            ShapeRules.shape(at.node(), output.shape().sizes());
            if (output.shape().elements() == 0) {
                throw at.node().error("the result " + output.shape() + " is empty: the images are too small");
            }
        }
        return planned;
    }

    private static HostTensor shape(OnnxNode node, Operand x) {
        long[] sizes = x.shape().sizes();
        int start = bound(node.whole("start", 0), sizes.length);
        int end = bound(node.whole("end", sizes.length), sizes.length);
        return HostTensor.ofLongs(start >= end ? new long[0] : Arrays.copyOfRange(sizes, start, end));
    }

    private static int bound(long index, int rank) {
        return Math.clamp(index < 0 ? index + rank : index, 0, rank);
    }

    /** Removes steps that only shapes needed. */
    private void prune() {
        Set<String> needed = new HashSet<>(Set.of(task.output()));
        List<Step> kept = new ArrayList<>();
        for (Step step : steps.reversed()) {
            if (step.node.outputs().stream().anyMatch(needed::contains)) {
                kept.addFirst(step);
                for (int i = 0; i < step.operands.size(); i++) {
                    if (step.operands.get(i).constant() == null) {
                        needed.add(step.node.inputs().get(i));
                    }
                }
            }
        }
        steps.clear();
        steps.addAll(kept);
    }

    /**
     * Returns the operators with the sizes and constants of this plan.
     *
     * @param many a plan for several images, to tell the dimension of the images of each tensor
     */
    List<Operation> operations(Plan many) {
        return steps.stream()
                .map(step -> new Operation(
                        new Site(step.node, step.operands, task.graph().opset(), 1, 1),
                        step.node.inputs().stream()
                                .map(name -> tensor(name, many))
                                .toList(),
                        step.node.outputs().stream()
                                .filter(known::containsKey)
                                .map(name -> tensor(name, many))
                                .toList()))
                .toList();
    }

    private Operation.Tensor tensor(String name, Plan many) {
        Operand operand = known.getOrDefault(name, Operand.ABSENT);
        Operand several = many.known.getOrDefault(name, Operand.ABSENT);
        long[] sizes = operand.shape().sizes();
        if (several.data()) {
            sizes[several.batch()] = -1;
        }
        return new Operation.Tensor(name, Arrays.stream(sizes).boxed().toList(), operand.constant());
    }

    /** Returns what is known of a tensor. */
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

    /** Returns what is known of the output. */
    Operand output() {
        Operand output = known.get(task.output());
        if (output == null || output.constant() != null) {
            throw new IllegalArgumentException(
                    "the output '" + task.output() + "' does not depend on the images; is it the right output?");
        }
        return output;
    }

    /**
     * Computes the output.
     *
     * @param state input of the planned shape
     * @param parameters weights by name
     */
    Var run(Var state, Bindings parameters) {
        Map<String, Var> values = new HashMap<>();
        values.put(task.input(), state);
        for (Step step : steps) {
            List<@Nullable Var> inputs = new ArrayList<>();
            for (int i = 0; i < step.operands.size(); i++) {
                String name = step.node.inputs().get(i);
                boolean constant = step.operands.get(i).constant() != null;
                Var value = constant ? null : values.get(name);
                inputs.add(constant || value != null ? value : parameters.get(name));
            }
            List<Var> results = step.kernel.run(new Arguments(state.tape(), state.value(), inputs, step.operands));
            for (int i = 0; i < Math.min(results.size(), step.node.outputs().size()); i++) {
                values.put(step.node.outputs().get(i), results.get(i));
            }
        }
        Var output = values.get(task.output());
        if (output == null) {
            throw new IllegalStateException("no step computes " + task.output());
        }
        return output;
    }
}
