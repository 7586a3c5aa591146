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
public record Sgd(double learningRate, double momentum, double weightDecay, StiefelOptions stiefel)
        implements OptimizerRule {
    static final String VELOCITY = "velocity";

    /** Returns momentum 0.9 and weight decay 5e-4, usual values that the paper does not give. */
    public static Sgd defaults(double learningRate) {
        return new Sgd(learningRate, 0.9, 5e-4, StiefelOptions.defaults());
    }

    @Override
    public Sgd times(double rate, double decay) {
        return new Sgd(learningRate * rate, momentum, weightDecay * decay, stiefel);
    }

    @Override
    public Sgd at(double rate) {
        return new Sgd(rate, momentum, weightDecay, stiefel);
    }

    @Override
    public Update update(Role role, Tensor value, Tensor gradient, Map<String, Tensor> state, long steps) {
        Tensor velocity = state.get(VELOCITY);
        if (role == Role.STIEFEL) {
            StiefelStep step = StiefelStep.from(value, gradient, velocity, this);
            return new Update(step.point(), step.velocity() == null ? Map.of() : Map.of(VELOCITY, step.velocity()));
        }
        double decay = role == Role.WEIGHT ? weightDecay : 0;
        Tensor decayed = decay == 0 ? gradient : gradient.addScaled(value, decay);
        Tensor direction = velocity == null ? decayed : decayed.addScaled(velocity, momentum);
        return new Update(
                value.addScaled(direction, -learningRate), momentum == 0 ? Map.of() : Map.of(VELOCITY, direction));
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
        static StiefelStep from(Tensor w, Tensor gradient, @Nullable Tensor velocity, Sgd options) {
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
