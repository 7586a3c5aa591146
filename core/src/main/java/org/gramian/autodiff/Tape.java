package org.gramian.autodiff;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Record of a computation for reverse-mode differentiation.
 *
 * <p>The tape owns every value computed on it and frees it when the tape is closed, or earlier during the backward
 * pass. Gradients may share memory, so an adjoint must not write to its upstream gradient. Tensors passed to {@link
 * #variable} and {@link #constant} stay with their owner.
 *
 * @since 0.1
 */
public final class Tape implements AutoCloseable {
    /** Application of one function; {@code owned} is freed with it. */
    private record Node(Var output, List<Var> inputs, Adjoint adjoint, List<Tensor> owned) {}

    private final boolean recording;
    private final Scheduler scheduler;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Tensor> unrecorded = new ArrayList<>();
    private final GradientHooks hooks;
    private boolean used;

    private Tape(boolean recording, Scheduler scheduler) {
        this.recording = recording;
        this.scheduler = scheduler;
        this.hooks = new GradientHooks(scheduler);
    }

    /** Creates a tape for training, which records for the backward pass. */
    public static Tape recording() {
        return recording(Scheduler.SEQUENTIAL);
    }

    /** Creates a tape for training. The scheduler, which outlives the backward pass, runs {@link #parameterGradients} and hooks. */
    public static Tape recording(Scheduler scheduler) {
        return new Tape(true, scheduler);
    }

    /** Creates a tape for inference, which keeps nothing for a backward pass. */
    public static Tape inference() {
        return new Tape(false, Scheduler.SEQUENTIAL);
    }

    /**
     * Adds a tensor with a gradient.
     *
     * @param value tensor of a floating-point type
     */
    public Var variable(Tensor value) {
        if (!value.type().isFloating()) {
            throw new IllegalArgumentException("expected a floating-point tensor for a gradient, found " + value);
        }
        return new Var(this, value, recording, true);
    }

    /** Adds a tensor without a gradient. */
    public Var constant(Tensor value) {
        return new Var(this, value, false, true);
    }

    /**
     * Applies a function to variables of this tape.
     *
     * @param inputs inputs of the function; its adjoint returns their gradients in this order
     * @param function computes the value from the values of the inputs
     * @return the value, which has a gradient if an input has one
     */
    public Var apply(List<Var> inputs, Supplier<Result> function) {
        boolean wanted = false;
        for (Var input : inputs) {
            if (input.tape() != this) {
                throw new IllegalArgumentException(input + " belongs to another tape");
            }
            wanted |= input.wantsGradient();
        }
        try (Scope scope = Scope.open()) {
            Result result = function.get();
            List<Tensor> owned = new ArrayList<>();
            if (scope.release(result.value())) {
                owned.add(result.value());
            }
            Var output = new Var(this, result.value(), wanted, false);
            if (!wanted) {
                unrecorded.addAll(owned);
                return output;
            }
            result.saved().stream().filter(scope::release).forEach(owned::add);
            nodes.add(new Node(output, inputs, result.adjoint(), owned));
            return output;
        }
    }

    /** Returns what runs {@link #parameterGradients} and hooks. */
    public Scheduler scheduler() {
        return scheduler;
    }

    /** Returns the current position of the computation, for {@link #keepOnly}. */
    public int mark() {
        return unrecorded.size();
    }

    /**
     * Frees the values computed since a mark except one.
     *
     * <p>Called between the layers of an inference, it keeps the values of one layer at a time. Other variables
     * computed since the mark must not be used afterwards. Nothing is freed if the value has a gradient, since the
     * backward pass may need the others.
     *
     * @param kept value to keep
     * @param since position from {@link #mark}
     */
    public void keepOnly(Var kept, int since) {
        if (kept.wantsGradient() || since >= unrecorded.size()) {
            return;
        }
        unrecorded.subList(since, unrecorded.size()).removeIf(value -> {
            if (value != kept.value()) {
                value.close();
            }
            return value != kept.value();
        });
    }

    /**
     * Registers work on the gradient of a variable, such as a part of an optimizer's step. The backward pass runs it once, as soon
     * as the gradient is final. Its results can be read after the backward pass.
     *
     * @param variable variable without a hook
     * @param work receives the gradient, or null if the differentiated value does not depend on the variable
     */
    public void hook(Var variable, Consumer<@Nullable Tensor> work) {
        hooks.add(variable, work);
    }

    /**
     * Computes the gradients of a scalar with respect to every variable.
     *
     * @param root value with one element
     */
    public Gradients backward(Var root) {
        if (root.shape().elements() != 1) {
            throw new IllegalArgumentException(
                    "expected a scalar to differentiate, found " + root + "; pass an upstream gradient");
        }
        Tensor value = root.value();
        return gradients(root, () -> Tensors.full(1, value.shape(), value.type(), value.device()));
    }

    /**
     * Computes the gradients of {@code ⟨upstream, root⟩} with respect to every variable.
     *
     * @param root any value of this tape
     * @param upstream gradient of the loss with respect to {@code root}, of its shape, type and device
     * @throws IllegalStateException if called a second time
     */
    public Gradients backward(Var root, Tensor upstream) {
        Tensor value = root.value();
        if (!upstream.shape().equals(value.shape())
                || upstream.type() != value.type()
                || !upstream.device().equals(value.device())) {
            throw new IllegalArgumentException(
                    "the upstream gradient must be " + value + " as the result is, found " + upstream);
        }
        return gradients(root, () -> upstream.copy());
    }

    private Gradients gradients(Var root, Supplier<Tensor> upstream) {
        if (root.tape() != this || !root.wantsGradient()) {
            throw new IllegalArgumentException(root + " depends on no variable of this tape that requires a gradient");
        }
        if (used) {
            throw new IllegalStateException("backward can be called only once per tape");
        }
        used = true;
        nodes.forEach(node -> node.inputs().forEach(hooks::count));
        Map<Var, Tensor> gradients = new HashMap<>();
        try {
            try (Scope scope = Scope.open()) {
                Tensor start = upstream.get();
                scope.release(start);
                gradients.put(root, start);
            }
            for (Node node : nodes.reversed()) {
                try (Tensor gradient = gradients.remove(node.output())) {
                    if (gradient != null) {
                        propagate(node, gradient, gradients);
                    }
                }
                node.inputs().forEach(input -> hooks.release(input, gradients.get(input)));
                if (node.output() != root) {
                    node.owned().forEach(Tensor::close);
                }
            }
            hooks.finish(gradients);
            return new Gradients(gradients);
        } catch (RuntimeException failed) {
            gradients.values().forEach(Tensor::close);
            throw failed;
        }
    }

    /** Adds the gradients of a node's inputs to those of other nodes. */
    private void propagate(Node node, Tensor upstream, Map<Var, Tensor> gradients) {
        List<Var> inputs = node.inputs();
        boolean[] wanted = new boolean[inputs.size()];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = inputs.get(i).wantsGradient();
        }
        List<Tensor> replaced = new ArrayList<>();
        try (Scope scope = Scope.open()) {
            List<@Nullable Tensor> answers = node.adjoint().gradients(upstream, wanted);
            for (int i = 0; i < wanted.length; i++) {
                Tensor answer = answers.get(i);
                if (wanted[i] && answer != null) {
                    Tensor present = gradients.get(inputs.get(i));
                    gradients.put(inputs.get(i), total(inputs.get(i), answer, present, scope));
                    if (present != null) {
                        replaced.add(present);
                    }
                }
            }
        }
        replaced.forEach(Tensor::close); // only now: an adjoint may return one tensor for several inputs
    }

    /** Adds a gradient to that of an input; the sum belongs to no scope. */
    private Tensor total(Var input, Tensor answer, @Nullable Tensor present, Scope scope) {
        if (!answer.shape().equals(input.shape())) {
            throw new IllegalStateException(
                    "an adjoint gave a gradient " + answer + " for an input of shape " + input.shape());
        }
        if (present != null) {
            hooks.await(input);
        }
        Tensor total = present == null ? answer : present.add(answer);
        if (!scope.release(total)) {
            total = total.alias(); // owned elsewhere, such as the upstream: needs its own handle
            scope.release(total);
        }
        return total;
    }

    /**
     * Computes gradients of parameters, which the backward pass needs late: the scheduler may run the work beside the rest of the
     * pass. Called by adjoints before they compute the gradients of other inputs.
     *
     * @param parameters inputs of the function
     * @param reads tensors that the work reads, except the values of the parameters
     * @param work computes the gradients, in the order of the parameters
     * @return gradients that the adjoint returns without reading them
     */
    public List<@Nullable Tensor> parameterGradients(
            List<Var> parameters, List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
        if (!parameters.stream().allMatch(Var::isLeaf)) {
            return work.get(); // the adjoint of the function that computed the parameter reads the gradient next
        }
        return hooks.compute(parameters, reads, work);
    }

    /**
     * Runs the hook of a parameter before the adjoint that computed its gradient returns, if no other function uses the parameter.
     *
     * @param gradient gradient, which the adjoint returns
     */
    public void finished(Var parameter, Tensor gradient) {
        hooks.finished(parameter, gradient);
    }

    @Override
    public void close() {
        nodes.forEach(node -> node.owned().forEach(Tensor::close));
        nodes.clear();
        unrecorded.forEach(Tensor::close);
        unrecorded.clear();
    }

    /** Work of a backward pass that a {@link Scheduler} may run beside it: gradients of parameters, and hooks on final gradients. */
    private static final class GradientHooks {
        /** Work that waits for a gradient, and the number of inputs of nodes that still contribute to it. */
        private static final class Hook {
            final Consumer<@Nullable Tensor> work;
            int uses;
            boolean done;

            Hook(Consumer<@Nullable Tensor> work) {
                this.work = work;
            }
        }

        private final Scheduler scheduler;
        private final Map<Var, Hook> hooks = new HashMap<>();
        /** Variables whose gradients the scheduler computes: they can be read after it has joined. */
        private final Set<Var> scheduled = new HashSet<>();

        GradientHooks(Scheduler scheduler) {
            this.scheduler = scheduler;
        }

        void add(Var variable, Consumer<@Nullable Tensor> work) {
            if (hooks.putIfAbsent(variable, new Hook(work)) != null) {
                throw new IllegalStateException(variable + " already has a hook");
            }
        }

        /** Counts an input of a node before the backward pass. */
        void count(Var input) {
            Hook hook = hooks.get(input);
            if (hook != null) {
                hook.uses++;
            }
        }

        /** Computes gradients of leaves; runs the hooks of those that no other node uses. */
        List<@Nullable Tensor> compute(List<Var> leaves, List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
            scheduled.addAll(leaves);
            return scheduler.run(reads, () -> {
                List<@Nullable Tensor> gradients = work.get();
                for (int i = 0; i < gradients.size(); i++) {
                    Hook hook = hooks.get(leaves.get(i));
                    if (hook != null && hook.uses == 1 && !hook.done) {
                        hook.done = true;
                        hook.work.accept(gradients.get(i));
                    }
                }
                return gradients;
            });
        }

        /** Runs the hook of a variable that no other node uses. */
        void finished(Var variable, Tensor gradient) {
            Hook hook = hooks.get(variable);
            if (hook != null && hook.uses == 1) {
                run(hook, gradient);
            }
        }

        /** Counts an input of a node as processed; after the last one its gradient is final. */
        void release(Var input, @Nullable Tensor gradient) {
            Hook hook = hooks.get(input);
            if (hook != null && --hook.uses == 0 && gradient != null) {
                run(hook, gradient);
            }
        }

        /** Makes a gradient readable. */
        void await(Var variable) {
            if (scheduled.contains(variable)) {
                scheduler.join();
            }
        }

        /** Runs the hooks that are left and makes all gradients readable. */
        void finish(Map<Var, Tensor> gradients) {
            hooks.forEach((variable, hook) -> run(hook, gradients.get(variable)));
            scheduler.join();
        }

        private void run(Hook hook, @Nullable Tensor gradient) {
            if (!hook.done) {
                hook.done = true;
                scheduler.run(gradient == null ? List.of() : List.of(gradient), () -> {
                    hook.work.accept(gradient);
                    return List.of();
                });
            }
        }
    }
}
