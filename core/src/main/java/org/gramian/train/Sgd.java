package org.gramian.train;

import java.util.Map;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Stochastic gradient descent with momentum, {@code v ← μv + (g + d·w)}, {@code w ← w − λv}; parameters on the Stiefel
 * manifold move along it, see {@link StiefelStep}.
 *
 * <p>Weight decay d applies to weights alone.
 */
final class Sgd implements Optimizer.Rule {
    static final String VELOCITY = "velocity";

    @Override
    public void update(Optimizer optimizer, Parameter parameter, Tensor gradient, OptimizerOptions own) {
        SgdOptions options = (SgdOptions) own;
        Tensor velocity = optimizer.state(parameter, VELOCITY);
        if (parameter.spec().role() == Role.STIEFEL) {
            StiefelStep step = StiefelStep.from(parameter.value(), gradient, velocity, options);
            optimizer.remember(parameter, VELOCITY, step.velocity());
            Optimizer.assign(parameter, step.point());
        } else {
            Tensor direction = direction(parameter, gradient, velocity, options);
            Tensor moved = Elementwise.addScaled(parameter.value(), direction, -options.learningRate());
            optimizer.remember(parameter, VELOCITY, options.momentum() == 0 ? null : direction);
            Optimizer.assign(parameter, moved);
        }
    }

    private static Tensor direction(Parameter parameter, Tensor gradient, @Nullable Tensor velocity, SgdOptions own) {
        double decay = parameter.spec().role() == Role.WEIGHT ? own.weightDecay() : 0;
        // a copy where nothing is added: the gradient belongs to the caller, the velocity to us
        Tensor decayed =
                decay == 0 ? Elementwise.mul(gradient, 1) : Elementwise.addScaled(gradient, parameter.value(), decay);
        return velocity == null ? decayed : Elementwise.addScaled(decayed, velocity, own.momentum());
    }

    @Override
    public Map<String, Shape> state(Parameter parameter) {
        return Map.of(VELOCITY, parameter.spec().shape());
    }
}
