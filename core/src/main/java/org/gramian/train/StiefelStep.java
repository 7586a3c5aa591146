package org.gramian.train;

import org.gramian.spd.Stiefel;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * One step of Riemannian gradient descent with momentum on the Stiefel manifold (paper, Algorithm 1).
 *
 * <p>{@code Z ← μ·P_W(Z) + ∇}, {@code W ← R_W(−λZ)}: the old momentum is brought to the tangent space of the point where
 * it is used by the projection P, the gradient ∇ is Riemannian, R is a retraction. At a constant rate μ is 0.
 *
 * @param point the new W
 * @param velocity the new Z, null without momentum
 */
record StiefelStep(Tensor point, @Nullable Tensor velocity) {
    static StiefelStep from(Tensor w, Tensor gradient, @Nullable Tensor velocity, SgdOptions options) {
        StiefelOptions stiefel = options.stiefel();
        double momentum = stiefel.constantRate().isPresent() ? 0 : options.momentum();
        try (Scope scope = Scope.open()) {
            Tensor direction = Stiefel.gradient(w, gradient, stiefel.metric());
            if (velocity != null && momentum != 0) {
                direction = Elementwise.addScaled(direction, Stiefel.project(w, velocity), momentum);
            }
            double rate = stiefel.constantRate().orElse(options.learningRate() * stiefel.multiplier());
            Tensor point = stiefel.retraction().apply(w, Elementwise.mul(direction, -rate));
            return new StiefelStep(scope.keep(point), momentum == 0 ? null : scope.keep(direction));
        }
    }
}
