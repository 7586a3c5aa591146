package org.gramian.train;

import org.gramian.spd.Retraction;
import org.gramian.spd.Stiefel;

/**
 * How parameters with orthonormal columns are moved.
 *
 * @param multiplier factor on the learning rate
 * @param metric which Riemannian gradient
 * @param retraction the way back onto the manifold
 */
public record StiefelOptions(double multiplier, Stiefel.Metric metric, Retraction retraction) {
    public StiefelOptions {
        if (!(multiplier >= 0) || Double.isInfinite(multiplier)) {
            throw new IllegalArgumentException("the learning rate multiplier must be at least 0, found " + multiplier);
        }
    }

    /**
     * The paper's canonical metric and QR. The gradient of W grows with K's largest eigenvalue, about 0.6·C, so its rate
     * is a thousandth of the others': what worked in our reference figures.
     */
    public static StiefelOptions defaults() {
        return new StiefelOptions(1e-3, Stiefel.Metric.CANONICAL, Retraction.QR);
    }
}
