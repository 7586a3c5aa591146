package org.gramian.train;

import java.util.OptionalDouble;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;

/**
 * How parameters with orthonormal columns are moved.
 *
 * @param multiplier factor on the learning rate
 * @param metric which Riemannian gradient
 * @param retraction the way back onto the manifold
 * @param constantRate a step length of their own, whatever the learning rate and the multiplier, and without momentum
 */
public record StiefelOptions(
        double multiplier, Stiefel.Metric metric, Retraction retraction, OptionalDouble constantRate) {
    /** The step length in the authors' code. */
    private static final double AUTHORS_RATE = 1e-5;

    public StiefelOptions {
        if (!(multiplier >= 0) || Double.isInfinite(multiplier)) {
            throw new IllegalArgumentException("the learning rate multiplier must be at least 0, found " + multiplier);
        }
        double constant = constantRate.orElse(0);
        if (!(constant >= 0) || Double.isInfinite(constant)) {
            throw new IllegalArgumentException("the constant learning rate must be at least 0, found " + constant);
        }
    }

    /** Steps at a multiple of the learning rate, with momentum. */
    public StiefelOptions(double multiplier, Stiefel.Metric metric, Retraction retraction) {
        this(multiplier, metric, retraction, OptionalDouble.empty());
    }

    /**
     * The paper's canonical metric and QR. The gradient of W grows with K's largest eigenvalue, about 0.6·C, so its rate
     * is a thousandth of the others': what worked in our reference figures.
     */
    public static StiefelOptions defaults() {
        return new StiefelOptions(1e-3, Stiefel.Metric.CANONICAL, Retraction.QR);
    }

    /**
     * What a fidelity asks for: under {@code paper} the common learning rate, under {@code authors} the Euclidean metric
     * and steps of 1e-5 that neither schedule nor momentum touches; both leave the signs of QR as they come. Their code
     * steps inside backward, so at every batch: it does not add up gradients of several.
     */
    public static StiefelOptions of(Fidelity fidelity) {
        return switch (fidelity) {
            case PAPER -> new StiefelOptions(1, Stiefel.Metric.CANONICAL, Retraction.QR_UNSIGNED);
            case AUTHORS ->
                new StiefelOptions(
                        1, Stiefel.Metric.EUCLIDEAN, Retraction.QR_UNSIGNED, OptionalDouble.of(AUTHORS_RATE));
            case CORRECTED -> defaults();
        };
    }
}
