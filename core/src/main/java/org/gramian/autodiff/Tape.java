package org.gramian.autodiff;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Result.Accumulating;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.tensor.cuda.SideStream;
import org.jspecify.annotations.Nullable;

/**
 * Record of a computation for reverse-mode differentiation.
 *
 * <p>The tape owns every value computed on it and frees it when the tape is closed, or earlier during the backward
 * pass. Gradients may share memory, so an adjoint must not write to its upstream gradient. Tensors passed to {@link
 * #variable} and {@link #constant} stay with their owner.
 */
public final class Tape implements AutoCloseable {
    /** Application of one function; {@code owned} is freed with it. */
    private record Node(
            Var output,
            List<Var> inputs,
            Adjoint adjoint,
            List<Tensor> owned,
            @Nullable UnaryOperator<Tensor> part) {}

    private final boolean recording;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Tensor> unrecorded = new ArrayList<>();
    private final Map<Var, Tensor> rounded = new HashMap<>();
    /** Variables whose gradients the side stream computes. */
    private final Set<Var> aside = new HashSet<>();

    private final Map<Var, Consumer<Tensor>> hooks = new HashMap<>();
    private final List<Runnable> early = new ArrayList<>();

    private @Nullable SideStream side;
    private boolean used;

    private Tape(boolean recording) {
        this.recording = recording;
    }

    /** Creates a tape for training, which records for the backward pass. */
    public static Tape recording() {
        return new Tape(true);
    }

    /** Creates a tape for inference, which keeps nothing for a backward pass. */
    public static Tape inference() {
        return new Tape(false);
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
        return apply(inputs, function, null);
    }

    /**
     * Views a part of a value. Gradients of several parts are added into one tensor of the size of the whole, where an
     * adjoint of each would make one of its own.
     *
     * @param view returns the part of the value, and of its gradient
     */
    Var part(Var x, UnaryOperator<Tensor> view) {
        Adjoint none = (_, _) -> Adjoint.list((Tensor) null);
        return apply(List.of(x), () -> Result.of(view.apply(x.value()), none), view);
    }

    private Var apply(List<Var> inputs, Supplier<Result> function, @Nullable UnaryOperator<Tensor> part) {
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
            nodes.add(new Node(output, inputs, result.adjoint(), owned, part));
            return output;
        }
    }

    /**
     * Converts the values of parameters to a type, on a GPU in one pass over memory, for {@link #rounded}.
     *
     * @param parameters variables; constants, of which nothing is kept, and those of the type are ignored
     */
    public void round(List<Var> parameters, DType type) {
        List<Var> others = parameters.stream()
                .filter(each -> each.wantsGradient() && each.value().type() != type && !rounded.containsKey(each))
                .distinct()
                .toList();
        try (Scope scope = Scope.open()) {
            List<Tensor> values = Tensors.to(others.stream().map(Var::value).toList(), type);
            for (int i = 0; i < values.size(); i++) {
                scope.release(values.get(i));
                rounded.put(others.get(i), values.get(i));
            }
        }
    }

    /** Returns the value of a parameter in a type: that of {@link #round} or a new tensor. */
    public Tensor rounded(Var parameter, DType type) {
        Tensor present = rounded.get(parameter);
        return present != null && present.type() == type ? present : Tensors.to(parameter.value(), type);
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
     * Registers work that needs the gradient of one variable only, such as a part of an optimizer's step. It runs on the {@linkplain
     * #onSideStream side stream} after the gradient was computed there, or when the adjoint calls {@link #runHook}, if the gradient
     * is final, which it is if the variable is used once. Otherwise the work does not run. Its results can be read after the
     * backward pass.
     *
     * @param variable variable without a hook
     * @param work receives the gradient, which is freed like those of other variables
     */
    public void hook(Var variable, Consumer<Tensor> work) {
        if (hooks.putIfAbsent(variable, work) != null) {
            throw new IllegalStateException(variable + " already has a hook");
        }
    }

    /**
     * Registers work that needs no gradient, for hooks to use its results. It runs on the {@linkplain #onSideStream side stream}
     * at the start of the backward pass. Without such a stream it does not run.
     *
     * @param work reads only tensors that outlive the backward pass
     */
    public void beforeHooks(Runnable work) {
        early.add(work);
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
        requireFit(root, upstream);
        return gradients(root, () -> Tensors.copy(upstream));
    }

    private Gradients gradients(Var root, Supplier<Tensor> upstream) {
        if (root.tape() != this || !root.wantsGradient()) {
            throw new IllegalArgumentException(root + " depends on no variable of this tape that requires a gradient");
        }
        if (used) {
            throw new IllegalStateException("backward can be called only once per tape");
        }
        used = true;
        try (SideStream opened = SideStream.openInCapture(root.value().device())) {
            side = opened;
            if (opened != null && !early.isEmpty()) {
                opened.run(List.of(), () -> {
                    early.forEach(Runnable::run);
                    return List.of();
                });
            }
            return propagate(root, own(upstream));
        } finally {
            side = null;
        }
    }

    /** @param upstream gradient of the root, freed here */
    private Gradients propagate(Var root, Tensor upstream) {
        Map<Var, Tensor> gradients = new HashMap<>();
        gradients.put(root, upstream);
        Map<Var, Tensor> others = new HashMap<>(); // second summands of gradients whose nodes add them
        Set<Var> adding = new HashSet<>();
        nodes.stream().filter(node -> node.adjoint().addsUpstream()).forEach(node -> adding.add(node.output()));
        Set<Tensor> ofParts = Collections.newSetFromMap(new IdentityHashMap<>());
        try {
            for (int i = nodes.size() - 1; i >= 0; i--) {
                Node node = nodes.get(i);
                Tensor gradient = gradients.remove(node.output());
                if (gradient != null) {
                    try (gradient;
                            Tensor other = others.remove(node.output())) {
                        if (node.part() == null) {
                            propagate(node, gradient, other, new Sums(gradients, others, adding));
                        } else {
                            addPart(node, gradient, gradients, ofParts);
                        }
                    }
                }
                if (node.output() != root) {
                    node.owned().forEach(Tensor::close);
                }
            }
            join();
            return new Gradients(gradients);
        } catch (RuntimeException failed) {
            gradients.values().forEach(Tensor::close);
            others.values().forEach(Tensor::close);
            throw failed;
        }
    }

    /**
     * Computes gradients of parameters beside the rest of the backward pass, on a second CUDA stream, while a step is captured
     * as a CUDA graph. Called by adjoints, before they compute the gradients of their other inputs.
     *
     * @param parameters inputs of the function whose gradients the work computes
     * @param reads tensors that the work reads, except the values of the parameters
     * @param work computes the gradients, in the order of the parameters
     * @return gradients that the adjoint must return without reading them; or empty if there is no such stream, if the work is
     *     large, or if a parameter is the value of another function: then the adjoint computes them itself
     */
    public Optional<List<@Nullable Tensor>> onSideStream(
            List<Var> parameters, List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
        SideStream stream = side;
        if (stream == null || !stream.suits(reads) || !parameters.stream().allMatch(Var::isLeaf)) {
            return Optional.empty();
        }
        aside.addAll(parameters);
        return Optional.of(stream.run(reads, () -> {
            List<@Nullable Tensor> gradients = work.get();
            for (int i = 0; i < gradients.size(); i++) {
                callHook(parameters.get(i), gradients.get(i));
            }
            return gradients;
        }));
    }

    /**
     * Runs the hook of a variable, if it has one, on the side stream. For adjoints that compute the gradient of a parameter
     * themselves, before those of their other inputs.
     *
     * @param variable input of the function
     * @param gradient its gradient, which the adjoint returns
     */
    public void runHook(Var variable, Tensor gradient) {
        SideStream stream = side;
        if (stream != null && hooks.containsKey(variable)) {
            stream.run(List.of(gradient), () -> {
                callHook(variable, gradient);
                return List.of();
            });
        }
    }

    private void callHook(Var variable, @Nullable Tensor gradient) {
        Consumer<Tensor> hook = hooks.get(variable);
        if (hook == null || gradient == null) {
            return;
        }
        long uses = nodes.stream()
                .flatMap(node -> node.inputs().stream())
                .filter(input -> input == variable)
                .count();
        if (uses == 1) {
            hook.accept(gradient);
        }
    }

    /** Makes the backward pass wait for the gradients that are computed beside it. */
    private void join() {
        if (side != null) {
            side.join();
        }
        aside.clear();
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

    /**
     * Gradients of a backward pass so far.
     *
     * @param gradients gradient, or first summand of it, by variable
     * @param others second summand by variable
     * @param adding variables whose nodes add the two summands themselves
     */
    private record Sums(Map<Var, Tensor> gradients, Map<Var, Tensor> others, Set<Var> adding) {
        /** Returns where the next gradient of a variable belongs: beside the first if its node adds the two. */
        Map<Var, Tensor> of(Var input) {
            return adding.contains(input) && gradients.containsKey(input) && !others.containsKey(input)
                    ? others
                    : gradients;
        }
    }

    private void propagate(Node node, Tensor upstream, @Nullable Tensor other, Sums sums) {
        List<Var> inputs = node.inputs();
        boolean[] wanted = new boolean[inputs.size()];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = inputs.get(i).wantsGradient();
        }
        List<Tensor> replaced = new ArrayList<>();
        try (Scope scope = Scope.open()) {
            Tensor added = null;
            List<@Nullable Tensor> answers;
            if (other != null) {
                answers = node.adjoint().gradients(upstream, other, wanted);
            } else if (node.adjoint() instanceof Accumulating adjoint) {
                added = wanted[0] ? readable(inputs.getFirst(), sums.gradients) : null;
                answers = adjoint.gradients(upstream, wanted, added);
            } else {
                answers = node.adjoint().gradients(upstream, wanted);
            }
            for (int i = 0; i < wanted.length; i++) {
                Tensor answer = answers.get(i);
                if (wanted[i] && answer != null) {
                    boolean included = i == 0 && added != null;
                    Map<Var, Tensor> into = included ? sums.gradients : sums.of(inputs.get(i));
                    Tensor present = included ? null : readable(inputs.get(i), into);
                    Tensor total = total(inputs.get(i), answer, present, scope);
                    Tensor former = into.put(inputs.get(i), total);
                    if (former != null) {
                        replaced.add(former);
                    }
                }
            }
        }
        replaced.forEach(Tensor::close); // only now: an adjoint may return one tensor for several inputs
    }

    /** Returns the gradient of a variable so far, or null; both it and the one to be added can be read then. */
    private @Nullable Tensor readable(Var variable, Map<Var, Tensor> gradients) {
        Tensor present = gradients.get(variable);
        if (present != null && aside.contains(variable)) {
            join();
        }
        return present;
    }

    /**
     * Adds the gradient of a part to that of the whole.
     *
     * @param own gradients that this method made, which nothing else refers to
     */
    private void addPart(Node node, Tensor upstream, Map<Var, Tensor> gradients, Set<Tensor> own) {
        Var whole = node.inputs().getFirst();
        UnaryOperator<Tensor> view = Objects.requireNonNull(node.part());
        Tensor present = readable(whole, gradients);
        try (Scope scope = Scope.open()) {
            if (present != null && own.contains(present)) {
                Tensor part = view.apply(present);
                part.copyFrom(Elementwise.add(part, upstream));
                return;
            }
            Tensor total = present == null
                    ? Tensors.zeros(whole.shape(), upstream.type(), upstream.device())
                    : Tensors.copy(present);
            Tensor part = view.apply(total);
            part.copyFrom(present == null ? upstream : Elementwise.add(part, upstream));
            scope.release(total);
            gradients.put(whole, total);
            own.add(total);
        }
        if (present != null) {
            present.close();
        }
    }

    /**
     * Adds a gradient to that of an input; the sum belongs to no scope.
     *
     * @param present gradient of the input, or null if there is none or the answer includes it
     */
    private static Tensor total(Var input, Tensor answer, @Nullable Tensor present, Scope scope) {
        if (!answer.shape().equals(input.shape())) {
            throw new IllegalStateException(
                    "an adjoint gave a gradient " + answer + " for an input of shape " + input.shape());
        }
        Tensor total = present == null ? answer : Elementwise.add(present, answer);
        if (!scope.release(total)) {
            total = Views.alias(total); // owned elsewhere, such as the upstream: needs its own handle
            scope.release(total);
        }
        return total;
    }

    /** Creates a tensor that belongs to no scope. */
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
        rounded.values().forEach(Tensor::close);
        rounded.clear();
    }
}
