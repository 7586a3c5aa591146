package org.gramian.train;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.OptimizerRule.Update;
import org.jspecify.annotations.Nullable;

/**
 * Moves parameters along gradients of the loss: clips the gradients, applies the rule of {@link Sgd} or {@link AdamW}, and keeps a
 * moving average of the weights.
 *
 * <ul>
 *   <li>Clipping scales all gradients by {@code min(1, clip / (‖g‖ + 1e-6))}, where ‖g‖ is the norm over all parameters of all
 *       groups, as {@code torch.nn.utils.clip_grad_norm_} does; Stiefel parameters count with their Euclidean gradient.
 *   <li>The exponential moving average is {@code a ← d·a + (1 − d)·w} with {@code d = min(ema, (1 + t)/(10 + t))} after t earlier
 *       steps; it begins with the weights before the first step. {@link AveragedWeights} puts it to use.
 * </ul>
 *
 * <p>The state is a step count and named tensors per parameter, which this object owns until it is closed. They keep their addresses,
 * and so do the parameters, for captured steps refer to them.
 */
public final class Optimizer implements AutoCloseable {
    /** The name of the moving average in the state of a parameter. */
    public static final String AVERAGE = "average";

    /** Avoids a division by 0, as in PyTorch. */
    static final double NORM_EPSILON = 1e-6;

    /** Elements of a part of a parameter: with its state and gradient 2 MB, which a core's cache holds. */
    private static final long PART = 1 << 17;

    private final Map<Parameter, SequencedMap<String, Tensor>> states = new HashMap<>();

    private final double clip;
    private final double ema;
    private OptimizerRule options;
    private long steps;

    public Optimizer(OptimizerRule options, double clip, double ema) {
        this.options = options;
        this.clip = clip;
        this.ema = ema;
    }

    /** Creates an optimizer without state that neither clips nor averages. */
    public Optimizer(OptimizerRule options) {
        this(options, 0, 0);
    }

    public OptimizerRule options() {
        return options;
    }

    /** Changes the learning rate from the next step on. */
    public void setLearningRate(double rate) {
        options = options.at(rate);
    }

    /** Returns the largest gradient norm, 0 for no clipping. */
    public double clip() {
        return clip;
    }

    /** Returns the decay of averaged weights, 0 for none. */
    public double ema() {
        return ema;
    }

    public long steps() {
        return steps;
    }

    /** Sets the step count, after a resume or after steps that were taken on a GPU. */
    public void setSteps(long taken) {
        if (taken < 0) {
            throw new IllegalArgumentException("a step count must be at least 0, found " + taken);
        }
        steps = taken;
    }

    /** Returns d, the decay of averaged weights in the step after so many others. */
    double averageDecay(long taken) {
        return Math.min(ema, (1.0 + taken) / (10.0 + taken));
    }

    /** Takes a step with every parameter that a gradient reached. */
    public void step(ParameterSet parameters, Map<String, Var> variables, Gradients gradients) {
        ParameterGroup group = ParameterGroup.of(parameters);
        step(List.of(group), group.reached(variables, gradients));
    }

    public void step(Parameter parameter, Tensor gradient) {
        double scale = clipFactor(Map.of(parameter, gradient));
        steps++;
        move(parameter, gradient, scale, options);
    }

    /** Takes a step with every parameter of the groups that has a gradient, each at its group's rate and decay. */
    public void step(List<ParameterGroup> groups, Map<Parameter, Tensor> gradients) {
        Map<Parameter, Tensor> moved = new LinkedHashMap<>();
        groups.forEach(group -> group.parameters().all().forEach(parameter -> {
            Tensor gradient = gradients.get(parameter);
            if (gradient != null) {
                moved.put(parameter, gradient);
            }
        }));
        double scale = clipFactor(moved);
        steps++;
        for (ParameterGroup group : groups) {
            OptimizerRule own = options.times(group.rate(), group.decay());
            for (Parameter parameter : group.parameters().all()) {
                Tensor gradient = gradients.get(parameter);
                if (gradient != null) {
                    move(parameter, gradient, scale, own);
                }
            }
        }
    }

    private void move(Parameter parameter, Tensor gradient, double scale, OptimizerRule own) {
        if (parameter.spec().role() == Role.FITTED) {
            throw new IllegalArgumentException("parameter " + parameter.name() + " is fitted to data, not trained");
        }
        if (ema > 0 && state(parameter, AVERAGE) == null) {
            setState(parameter, AVERAGE, parameter.value().copy());
        }
        Map<String, Tensor> before = Map.copyOf(state(parameter));
        for (UnaryOperator<Tensor> part : parts(parameter)) {
            try (Scope _ = Scope.open()) {
                Map<String, Tensor> state = new HashMap<>(before);
                state.replaceAll((_, tensor) -> part.apply(tensor));
                Tensor value = part.apply(parameter.value());
                Tensor g = part.apply(gradient);
                Update next = own.update(parameter.spec().role(), value, scale == 1 ? g : g.mul(scale), state, steps);
                next.state()
                        .forEach((name, tensor) ->
                                part.apply(stateOrZeros(parameter, name)).copyFrom(tensor));
                value.copyFrom(next.value());
                Tensor average = state.get(AVERAGE);
                if (average != null) {
                    double decay = averageDecay(steps - 1);
                    average.copyFrom(average.mul(decay).addScaled(value, 1 - decay));
                }
            }
        }
    }

    /**
     * Returns the parts in which a parameter moves: on the CPU rows that stay in the cache from one operation to the next, where the
     * elements are independent.
     */
    private static List<UnaryOperator<Tensor>> parts(Parameter parameter) {
        Tensor value = parameter.value();
        long elements = parameter.spec().shape().elements();
        if (parameter.spec().role() == Role.STIEFEL || value.device().kind() != Device.Kind.CPU || elements <= PART) {
            return List.of(UnaryOperator.identity());
        }
        long count = value.size(0);
        long rows = Math.max(1, PART * count / elements);
        return LongStream.iterate(0, from -> from < count, from -> from + rows)
                .<UnaryOperator<Tensor>>mapToObj(from -> tensor -> tensor.slice(0, from, Math.min(from + rows, count)))
                .toList();
    }

    /** Returns the factor on all gradients that bounds their common norm. */
    private double clipFactor(Map<Parameter, Tensor> gradients) {
        return clip == 0 ? 1 : Math.min(1, clip / (norm(gradients) + NORM_EPSILON));
    }

    /** Returns the Frobenius norm over all gradients, free of overflow where each is finite. */
    private static double norm(Map<Parameter, Tensor> gradients) {
        double norm = 0;
        for (Tensor gradient : gradients.values()) {
            double largest = gradient.largestMagnitude();
            if (largest > 0) {
                try (Scope _ = Scope.open()) {
                    // divided twice: the reciprocal of a subnormal number would be infinite
                    double root = Math.sqrt(largest);
                    Tensor unit = gradient.mul(1 / root).mul(1 / root);
                    double length = Math.sqrt(unit.mul(unit).sum().item());
                    norm = Math.hypot(norm, largest * length);
                }
            }
        }
        return norm;
    }

    /** Returns the named tensors of a parameter, valid until the next step. */
    public Map<String, Tensor> state(Parameter parameter) {
        return Collections.unmodifiableMap(states.getOrDefault(parameter, new LinkedHashMap<>()));
    }

    /** Returns a state tensor of a parameter, valid until the next step; null where it has none. */
    public @Nullable Tensor state(Parameter parameter, String name) {
        SequencedMap<String, Tensor> state = states.get(parameter);
        return state == null ? null : state.get(name);
    }

    /** Returns a state tensor of a parameter, zeros at first; its address stays. */
    Tensor stateOrZeros(Parameter parameter, String name) {
        Tensor state = state(parameter, name);
        if (state == null) {
            Shape shape = Objects.requireNonNull(stateShapes(parameter).get(name), name);
            state = Tensors.zeros(
                    shape, parameter.value().type(), parameter.value().device());
            setState(parameter, name, state);
        }
        return state;
    }

    /** Returns the names of all state tensors that a parameter may have, with their shapes. */
    public Map<String, Shape> stateShapes(Parameter parameter) {
        Map<String, Shape> shapes = new LinkedHashMap<>(options.state(parameter));
        if (ema > 0) {
            shapes.put(AVERAGE, parameter.spec().shape());
        }
        return shapes;
    }

    /** Gives a parameter a state tensor that {@link #state} returned before; takes the tensor over. */
    public void setState(Parameter parameter, String name, Tensor value) {
        Shape shape = stateShapes(parameter).get(name);
        if (shape == null || !value.shape().equals(shape)) {
            throw new IllegalArgumentException("the state " + name + " of " + parameter.name() + ": expected "
                    + (shape == null ? "none" : shape) + ", found " + value);
        }
        replace(parameter, name, value);
    }

    private void replace(Parameter parameter, String name, Tensor value) {
        Tensor former =
                states.computeIfAbsent(parameter, _ -> new LinkedHashMap<>()).put(name, value);
        Scope.detach(value);
        if (former != null) {
            former.close();
        }
    }

    @Override
    public void close() {
        states.values().forEach(state -> state.values().forEach(Tensor::close));
        states.clear();
    }

    /**
     * Gives parameters the moving average that an {@link Optimizer} keeps of them, until closed.
     *
     * <p>The average of matrices with orthonormal columns has none: it is replaced by the Q of its QR decomposition with
     * {@code diag(R) > 0}. Parameters without an average stay as they are.
     */
    public static final class AveragedWeights implements AutoCloseable {
        private final Map<Parameter, Tensor> trained = new LinkedHashMap<>();

        public AveragedWeights(Optimizer optimizer, Collection<Parameter> parameters) {
            for (Parameter parameter : parameters) {
                Tensor average = optimizer.state(parameter, Optimizer.AVERAGE);
                if (average != null) {
                    try (Scope scope = Scope.open()) {
                        Tensor value = parameter.value().copy();
                        scope.release(value);
                        trained.put(parameter, value);
                        parameter
                                .value()
                                .copyFrom(
                                        parameter.spec().role() == Role.STIEFEL
                                                ? Decompositions.orthonormalColumns(average, true)
                                                : average);
                    }
                }
            }
        }

        /** Leaves the averages in place for good: closing restores nothing. */
        public void keep() {
            trained.values().forEach(Tensor::close);
            trained.clear();
        }

        @Override
        public void close() {
            trained.forEach((parameter, value) -> {
                parameter.value().copyFrom(value);
                value.close();
            });
            trained.clear();
        }
    }

    /** Parameters with a common learning rate and weight decay, as a backbone at a tenth of the head's learning rate. */
    public record ParameterGroup(ParameterSet parameters, double rate, double decay) {
        /** Returns a group with the learning rate and decay of the optimizer. */
        public static ParameterGroup of(ParameterSet parameters) {
            return new ParameterGroup(parameters, 1, 1);
        }

        /** Returns the gradients that reached the parameters; {@code gradients} still owns them. */
        public Map<Parameter, Tensor> reached(Map<String, Var> variables, Gradients gradients) {
            Map<Parameter, Tensor> reached = new LinkedHashMap<>();
            variables(variables).forEach((parameter, variable) -> {
                if (gradients.has(variable)) {
                    reached.put(parameter, gradients.of(variable));
                }
            });
            return reached;
        }

        public SequencedMap<Parameter, Var> variables(Map<String, Var> byName) {
            SequencedMap<Parameter, Var> variables = new LinkedHashMap<>();
            for (Parameter parameter : parameters.all()) {
                Var variable = byName.get(parameter.name());
                if (variable != null) {
                    variables.put(parameter, variable);
                }
            }
            return variables;
        }
    }
}
