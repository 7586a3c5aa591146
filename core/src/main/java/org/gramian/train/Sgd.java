package org.gramian.train;

import java.util.Map;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Stochastic gradient descent with momentum, {@code v ← μv + (g + d·w)}, {@code w ← w − λv}; parameters on the Stiefel
 * manifold move along it, see {@link StiefelStep}.
 *
 * <p>λ is the learning rate, μ the momentum. Weight decay d applies to weights only, not to biases.
 */
final class Sgd implements Optimizer.Rule {
    static final String VELOCITY = "velocity";

    @Override
    public void update(Optimizer optimizer, Parameter parameter, Tensor gradient, OptimizerOptions given) {
        SgdOptions options = (SgdOptions) given;
        Tensor velocity = optimizer.state(parameter, VELOCITY);
        if (parameter.spec().role() == Role.STIEFEL) {
            StiefelStep step = StiefelStep.from(parameter.value(), gradient, velocity, options);
            if (step.velocity() != null) {
                optimizer.remember(parameter, VELOCITY, step.velocity());
            }
            Optimizer.assign(parameter, step.point());
        } else {
            Tensor direction = direction(parameter, gradient, velocity, options);
            Tensor moved = parameter.value().addScaled(direction, -options.learningRate());
            if (options.momentum() != 0) {
                optimizer.remember(parameter, VELOCITY, direction);
            }
            Optimizer.assign(parameter, moved);
        }
    }

    private static Tensor direction(
            Parameter parameter, Tensor gradient, @Nullable Tensor velocity, SgdOptions options) {
        double decay = parameter.spec().role() == Role.WEIGHT ? options.weightDecay() : 0;
        // always a copy: the gradient belongs to the caller
        Tensor decayed = decay == 0 ? gradient.mul(1) : gradient.addScaled(parameter.value(), decay);
        return velocity == null ? decayed : decayed.addScaled(velocity, options.momentum());
    }

    @Override
    public Map<String, Shape> state(Parameter parameter) {
        return Map.of(VELOCITY, parameter.spec().shape());
    }

    /**
     * One step of Riemannian gradient descent with momentum on the Stiefel manifold (paper, Algorithm 1).
     *
     * <p>{@code Z ← μ·P_W(Z) + ∇}, {@code W ← R_W(−λZ)} with the tangent projection P, the Riemannian gradient ∇ and a
     * retraction R. With a constant learning rate, μ is 0.
     *
     * @param point the new W, whose columns are orthonormal
     * @param velocity the new Z, null without momentum
     */
    record StiefelStep(Tensor point, @Nullable Tensor velocity) {
        static StiefelStep from(Tensor w, Tensor gradient, @Nullable Tensor velocity, SgdOptions options) {
            StiefelOptions stiefel = options.stiefel();
            double momentum = stiefel.constantRate().isPresent() ? 0 : options.momentum();
            try (Scope scope = Scope.open()) {
                Tensor direction = Stiefel.gradient(w, gradient, stiefel.metric());
                if (velocity != null && momentum != 0) {
                    direction = direction.addScaled(Stiefel.project(w, velocity), momentum);
                }
                double rate = stiefel.constantRate().orElse(options.learningRate() * stiefel.multiplier());
                Tensor point = stiefel.retraction().apply(w, direction.mul(-rate));
                return new StiefelStep(scope.keep(point), momentum == 0 ? null : scope.keep(direction));
            }
        }
    }
}
