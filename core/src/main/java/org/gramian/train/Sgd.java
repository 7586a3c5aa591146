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
    public void update(Optimizer optimizer, Parameter parameter, Tensor gradient) {
        Tensor velocity = optimizer.state(parameter, VELOCITY);
        if (parameter.spec().role() == Role.STIEFEL) {
            StiefelStep step = StiefelStep.from(parameter.value(), gradient, velocity, this);
            if (step.velocity() != null) {
                optimizer.remember(parameter, VELOCITY, step.velocity());
            }
            Optimizer.assign(parameter, step.point());
            return;
        }
        double decay = parameter.spec().role() == Role.WEIGHT ? weightDecay : 0;
        // always a copy: the gradient belongs to the caller
        Tensor decayed = decay == 0 ? gradient.mul(1) : gradient.addScaled(parameter.value(), decay);
        Tensor direction = velocity == null ? decayed : decayed.addScaled(velocity, momentum);
        Tensor moved = parameter.value().addScaled(direction, -learningRate);
        if (momentum != 0) {
            optimizer.remember(parameter, VELOCITY, direction);
        }
        Optimizer.assign(parameter, moved);
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
