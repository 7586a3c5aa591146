package org.gramian.train;

import java.util.HashMap;
import java.util.Map;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Stochastic gradient descent with momentum, {@code v ← μv + (g + d·w)}, {@code w ← w − λv}; parameters on the Stiefel
 * manifold move along it.
 *
 * <p>Weight decay d applies to weights alone. The velocities are this object's state, owned until it is closed.
 */
public final class Sgd implements AutoCloseable {
    private final Map<Parameter, Tensor> velocities = new HashMap<>();
    private SgdOptions options;

    public Sgd(SgdOptions options) {
        this.options = options;
    }

    /** Changes the learning rate from the next step on. */
    public void setLearningRate(double rate) {
        options = options.at(rate);
    }

    public SgdOptions options() {
        return options;
    }

    /** Moves every parameter that a gradient reached. */
    public void step(ParameterSet parameters, Map<String, Var> variables, Gradients gradients) {
        step(ParameterGroup.of(parameters), variables, gradients);
    }

    /** Moves every parameter of a group that a gradient reached, at the group's rate. */
    public void step(ParameterGroup group, Map<String, Var> variables, Gradients gradients) {
        step(group, group.reached(variables, gradients));
    }

    /** Moves every parameter of a group that has a gradient, at the group's rate. */
    public void step(ParameterGroup group, Map<Parameter, Tensor> gradients) {
        SgdOptions own = options.times(group.rate(), group.decay());
        for (Parameter parameter : group.parameters().all()) {
            Tensor gradient = gradients.get(parameter);
            if (gradient != null) {
                step(parameter, gradient, own);
            }
        }
    }

    /** Moves one parameter along a gradient of the loss. */
    public void step(Parameter parameter, Tensor gradient) {
        step(parameter, gradient, options);
    }

    private void step(Parameter parameter, Tensor gradient, SgdOptions own) {
        if (parameter.spec().role() == Role.FITTED) {
            throw new IllegalArgumentException("parameter " + parameter.name() + " is fitted to data, not trained");
        }
        Tensor velocity = velocities.get(parameter);
        try (Scope _ = Scope.open()) {
            if (parameter.spec().role() == Role.STIEFEL) {
                StiefelStep step = StiefelStep.from(parameter.value(), gradient, velocity, own);
                remember(parameter, step.velocity());
                assign(parameter, step.point());
            } else {
                Tensor direction = direction(parameter, gradient, velocity, own);
                Tensor moved = Elementwise.addScaled(parameter.value(), direction, -own.learningRate());
                remember(parameter, own.momentum() == 0 ? null : direction);
                assign(parameter, moved);
            }
        }
    }

    private static Tensor direction(Parameter parameter, Tensor gradient, @Nullable Tensor velocity, SgdOptions own) {
        double decay = parameter.spec().role() == Role.WEIGHT ? own.weightDecay() : 0;
        // a copy where nothing is added: the gradient belongs to the caller, the velocity to us
        Tensor decayed =
                decay == 0 ? Elementwise.mul(gradient, 1) : Elementwise.addScaled(gradient, parameter.value(), decay);
        return velocity == null ? decayed : Elementwise.addScaled(decayed, velocity, own.momentum());
    }

    /** On a GPU in place: recorded steps know parameters and velocities by where they lie. */
    private static void assign(Parameter parameter, Tensor moved) {
        if (moved.device().kind() == Device.Kind.CUDA) {
            parameter.value().copyFrom(moved);
        } else {
            parameter.set(moved);
        }
    }

    private void remember(Parameter parameter, @Nullable Tensor velocity) {
        Tensor present = velocities.get(parameter);
        if (present != null && velocity != null && present.device().kind() == Device.Kind.CUDA) {
            present.copyFrom(velocity);
            return;
        }
        Tensor former = velocity == null ? velocities.remove(parameter) : velocities.put(parameter, velocity);
        if (velocity != null) {
            Scope.detach(velocity);
        }
        if (former != null) {
            former.close();
        }
    }

    /** The velocity of a parameter, as long as no further step is taken; null where it has none. */
    public @Nullable Tensor velocity(Parameter parameter) {
        return velocities.get(parameter);
    }

    /** Gives a parameter the velocity that {@link #velocity} once told; takes the tensor over. */
    public void setVelocity(Parameter parameter, Tensor velocity) {
        if (!velocity.shape().equals(parameter.spec().shape())) {
            throw new IllegalArgumentException("the velocity of " + parameter.name() + " has the shape "
                    + parameter.spec().shape() + ", found " + velocity);
        }
        Tensor former = velocities.put(parameter, velocity);
        Scope.detach(velocity);
        if (former != null) {
            former.close();
        }
    }

    @Override
    public void close() {
        velocities.values().forEach(Tensor::close);
        velocities.clear();
    }
}
