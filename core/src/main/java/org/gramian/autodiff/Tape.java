package org.gramian.autodiff;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * A record of a computation, read once from its end to its beginning to get gradients.
 *
 * <p>The tape owns every value computed on it and frees them when it is closed, or earlier, as the backward pass goes
 * by. Gradients may share memory, so an adjoint never writes into its upstream. Tensors given to {@link #variable} and
 * {@link #constant} stay their owner's.
 */
public final class Tape implements AutoCloseable {
    /** One function's application; {@code owned} is freed with it. */
    private record Node(Var output, List<Var> inputs, Adjoint adjoint, List<Tensor> owned) {}

    private final boolean recording;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Tensor> unrecorded = new ArrayList<>();
    private boolean used;

    private Tape(boolean recording) {
        this.recording = recording;
    }

    /** A tape for training: what is computed on it can be differentiated. */
    public static Tape recording() {
        return new Tape(true);
    }

    /** A tape for prediction: nothing is kept for going backwards. */
    public static Tape inference() {
        return new Tape(false);
    }

    /** A tensor whose gradient is wanted. */
    public Var variable(Tensor value) {
        if (!value.type().isFloating()) {
            throw new IllegalArgumentException("expected a floating-point tensor for a gradient, found " + value);
        }
        return new Var(this, value, recording);
    }

    /** A tensor that is only used. */
    public Var constant(Tensor value) {
        return new Var(this, value, false);
    }

    /**
     * Applies a function to variables of this tape.
     *
     * @param inputs what the function depends on; its adjoint answers in this order
     * @param function computes the value from the inputs' values
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
            Var output = new Var(this, result.value(), wanted);
            if (!wanted) {
                unrecorded.addAll(owned);
                return output;
            }
            result.saved().stream().filter(scope::release).forEach(owned::add);
            nodes.add(new Node(output, inputs, result.adjoint(), owned));
            return output;
        }
    }

    /** A place in the computation, for {@link #keepOnly}. */
    public int mark() {
        return unrecorded.size();
    }

    /**
     * Frees what was computed since a mark, except one value: call it between the stages of a long computation that is not
     * differentiated, so that it holds one stage's values at a time. Other variables computed since the mark must not be
     * used afterwards. Where the value wants a gradient nothing is freed, since the way back may need any of the others.
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

    /** Gradients of a single number with respect to every variable that asked for one. */
    public Gradients backward(Var root) {
        if (root.shape().elements() != 1) {
            throw new IllegalArgumentException(
                    "expected a scalar to differentiate, found " + root + "; pass an upstream gradient");
        }
        Tensor value = root.value();
        try (Tensor one = own(() -> Tensors.full(1, value.shape(), value.type(), value.device()))) {
            return backward(root, one);
        }
    }

    /** Gradients of {@code ⟨upstream, root⟩} with respect to every variable that asked for one. */
    public Gradients backward(Var root, Tensor upstream) {
        requireFit(root, upstream);
        if (root.tape() != this || !root.wantsGradient()) {
            throw new IllegalArgumentException(root + " depends on no variable of this tape that requires a gradient");
        }
        if (used) {
            throw new IllegalStateException("backward can be called only once per tape");
        }
        used = true;
        Map<Var, Tensor> gradients = new HashMap<>();
        gradients.put(root, own(() -> Tensors.copy(upstream)));
        try {
            for (int i = nodes.size() - 1; i >= 0; i--) {
                Node node = nodes.get(i);
                Tensor gradient = gradients.remove(node.output());
                if (gradient != null) {
                    try (gradient) {
                        propagate(node, gradient, gradients);
                    }
                }
                if (node.output() != root) {
                    node.owned().forEach(Tensor::close);
                }
            }
            return new Gradients(gradients);
        } catch (RuntimeException failed) {
            gradients.values().forEach(Tensor::close);
            throw failed;
        }
    }

    private static void requireFit(Var root, Tensor upstream) {
        Tensor value = root.value();
        if (!upstream.shape().equals(value.shape())
                || upstream.type() != value.type()
                || !upstream.device().equals(value.device())) {
            throw new IllegalArgumentException(
                    "the upstream gradient must be " + value + " as the result is, found " + upstream);
        }
    }

    private static void propagate(Node node, Tensor upstream, Map<Var, Tensor> gradients) {
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
                    Tensor total = total(inputs.get(i), answer, gradients, scope);
                    Tensor former = gradients.put(inputs.get(i), total);
                    if (former != null) {
                        replaced.add(former);
                    }
                }
            }
        }
        replaced.forEach(Tensor::close); // only now: an adjoint may answer with one tensor for several inputs
    }

    /** The gradient of an input with one more answer added, as a tensor that belongs to no scope. */
    private static Tensor total(Var input, Tensor answer, Map<Var, Tensor> gradients, Scope scope) {
        if (!answer.shape().equals(input.shape())) {
            throw new IllegalStateException(
                    "an adjoint gave a gradient " + answer + " for an input of shape " + input.shape());
        }
        Tensor present = gradients.get(input);
        Tensor total = present == null ? answer : Elementwise.add(present, answer);
        if (!scope.release(total)) {
            total = Views.alias(total); // someone else's, as the upstream: a handle of our own
            scope.release(total);
        }
        return total;
    }

    /** Makes a tensor that belongs to no scope. */
    private static Tensor own(Supplier<Tensor> making) {
        try (Scope scope = Scope.open()) {
            Tensor made = making.get();
            scope.release(made);
            return made;
        }
    }

    @Override
    public void close() {
        nodes.forEach(node -> node.owned().forEach(Tensor::close));
        nodes.clear();
        unrecorded.forEach(Tensor::close);
        unrecorded.clear();
    }
}
