package org.gramian.train;

import java.util.LinkedHashMap;
import java.util.Map;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Adam with decoupled weight decay (Loshchilov and Hutter, ICLR 2019), and Riemannian Adam on the Stiefel manifold (Bécigneul and
 * Ganea, ICLR 2019).
 *
 * <p>In step t, with the gradient g:
 *
 * <pre>
 * m ← β₁m + (1 − β₁)g          m̂ = m/(1 − β₁ᵗ)
 * v ← β₂v + (1 − β₂)g²         v̂ = v/(1 − β₂ᵗ)
 * w ← w − α(m̂/(√v̂ + ε) + d·w)
 * </pre>
 *
 * <p>Weight decay d applies to weights alone. For W with orthonormal columns {@code [C, C']} and its Riemannian gradient ∇ in the
 * metric of {@link StiefelOptions}:
 *
 * <pre>
 * M ← β₁P_W(M) + (1 − β₁)∇     M̂ = M/(1 − β₁ᵗ)
 * v ← β₂v + (1 − β₂)‖∇‖²_F     v̂ = v/(1 − β₂ᵗ), one number for the matrix
 * W ← R_W(−α·multiplier·M̂/(√v̂ + ε))
 * </pre>
 *
 * The tangent projection {@code P_W(Z) = Z − W·sym(WᵀZ)} transports the first moment from the last point, R is the retraction of the
 * options. A single second moment keeps the direction in the tangent space, which one per element would not. A step's Frobenius
 * length is about {@code α·multiplier} while gradients agree, and shorter when they do not, whatever the scale of the loss.
 *
 * <p>At a {@link StiefelOptions#constantRate} W takes plain Riemannian gradient steps without state, as under {@link Sgd}.
 */
public record AdamW(double learningRate, double beta1, double beta2, double weightDecay, StiefelOptions stiefel)
        implements OptimizerRule {
    static final String FIRST_MOMENT = "first-moment";
    static final String SECOND_MOMENT = "second-moment";

    /** Added to the root of the second moment; the value of Kingma and Ba (2015) and of PyTorch. */
    public static final double EPSILON = 1e-8;

    /**
     * Multiplier of the learning rate on the Stiefel manifold. A step has the Frobenius length {@code multiplier · rate}: 0.02 at
     * a rate of 2e-3, about 1 degree for one column, so that the retraction by products converges in three iterations.
     */
    public static final double STIEFEL_MULTIPLIER = 10;

    /** Returns β = (0.9, 0.999) of Kingma and Ba (2015), weight decay 0.02, and the canonical metric with QR. */
    public static AdamW defaults(double learningRate) {
        return new AdamW(
                learningRate,
                0.9,
                0.999,
                0.02,
                new StiefelOptions(STIEFEL_MULTIPLIER, Stiefel.Metric.CANONICAL, Retraction.QR));
    }

    @Override
    public double momentum() {
        return beta1;
    }

    @Override
    public AdamW at(double rate) {
        return new AdamW(rate, beta1, beta2, weightDecay, stiefel);
    }

    @Override
    public AdamW times(double rate, double decay) {
        return new AdamW(learningRate * rate, beta1, beta2, weightDecay * decay, stiefel);
    }

    @Override
    public Update update(Role role, Tensor value, Tensor gradient, Map<String, Tensor> state, long steps) {
        if (role == Role.STIEFEL) {
            return stiefelStep(value, gradient, state, steps);
        }
        Tensor first = mean(state.get(FIRST_MOMENT), gradient, beta1);
        Tensor second = mean(state.get(SECOND_MOMENT), gradient.mul(gradient), beta2);
        Tensor root = second.sqrt().mul(1 / Math.sqrt(correction(beta2, steps)));
        Tensor direction = first.div(root.add(EPSILON));
        double decay = role == Role.WEIGHT ? weightDecay : 0;
        Tensor decayed = decay == 0 ? value : value.mul(1 - learningRate * decay);
        Tensor moved = decayed.addScaled(direction, -learningRate / correction(beta1, steps));
        return new Update(moved, Map.of(FIRST_MOMENT, first, SECOND_MOMENT, second));
    }

    private Update stiefelStep(Tensor w, Tensor gradient, Map<String, Tensor> state, long steps) {
        Tensor riemannian = Stiefel.gradient(w, gradient, stiefel.metric());
        if (stiefel.constantRate().isPresent()) {
            double rate = stiefel.constantRate().get();
            return new Update(stiefel.retraction().apply(w, riemannian.mul(-rate)), Map.of());
        }
        Tensor former = state.get(FIRST_MOMENT);
        Tensor first = mean(former == null ? null : Stiefel.project(w, former), riemannian, beta1);
        Tensor square = riemannian.mul(riemannian).sum().reshape(1);
        Tensor second = mean(state.get(SECOND_MOMENT), square, beta2);
        double root = Math.sqrt(second.item() / correction(beta2, steps));
        double rate = learningRate * stiefel.multiplier() / correction(beta1, steps);
        Tensor step = first.mul(-rate / (root + EPSILON));
        return new Update(stiefel.retraction().apply(w, step), Map.of(FIRST_MOMENT, first, SECOND_MOMENT, second));
    }

    /** Returns {@code β·former + (1 − β)·value}; a moment begins with 0. */
    private static Tensor mean(@Nullable Tensor former, Tensor value, double beta) {
        return former == null ? value.mul(1 - beta) : former.mul(beta).addScaled(value, 1 - beta);
    }

    /** Returns {@code 1 − βᵗ}, by which a moment that began with 0 is divided. */
    static double correction(double beta, long step) {
        return 1 - Math.pow(beta, (double) step);
    }

    @Override
    public Map<String, Shape> state(Parameter parameter) {
        Map<String, Shape> shapes = new LinkedHashMap<>();
        Shape shape = parameter.spec().shape();
        shapes.put(FIRST_MOMENT, shape);
        shapes.put(SECOND_MOMENT, parameter.spec().role() == Role.STIEFEL ? Shape.of(1) : shape);
        return shapes;
    }
}
