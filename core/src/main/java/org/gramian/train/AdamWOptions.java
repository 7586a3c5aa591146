package org.gramian.train;

import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;

/** Constants of {@link AdamW}. */
public record AdamWOptions(double learningRate, double beta1, double beta2, double weightDecay, StiefelOptions stiefel)
        implements OptimizerOptions {
    /** Added to the root of the second moment; the value of Kingma and Ba (2015) and of PyTorch. */
    public static final double EPSILON = 1e-8;

    /**
     * Multiplier of the learning rate on the Stiefel manifold. A step has the Frobenius length {@code multiplier · rate}: 0.02 at
     * a rate of 2e-3, about 1 degree for one column, so that the retraction by products converges in three iterations.
     */
    public static final double STIEFEL_MULTIPLIER = 10;

    /** Returns β = (0.9, 0.999) of Kingma and Ba (2015), weight decay 0.02, and the canonical metric with QR. */
    public static AdamWOptions defaults(double learningRate) {
        return new AdamWOptions(
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
    public AdamWOptions at(double rate) {
        return new AdamWOptions(rate, beta1, beta2, weightDecay, stiefel);
    }

    @Override
    public AdamWOptions times(double rate, double decay) {
        return new AdamWOptions(learningRate * rate, beta1, beta2, weightDecay * decay, stiefel);
    }
}
