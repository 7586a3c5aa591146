package org.gramian.train;

import java.util.Optional;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;

/** Steps of parameters on the Stiefel manifold, matrices with orthonormal columns. */
public record StiefelOptions(
        double multiplier, Stiefel.Metric metric, Retraction retraction, Optional<Double> constantRate) {
    /** The step length in the authors' code. */
    private static final double AUTHORS_RATE = 1e-5;

    public StiefelOptions(double multiplier, Stiefel.Metric metric, Retraction retraction) {
        this(multiplier, metric, retraction, Optional.empty());
    }

    /**
     * Returns the paper's canonical metric and QR, at a thousandth of the learning rate: the gradient of W grows with the largest eigenvalue of K, about 0.6·C.
     */
    public static StiefelOptions defaults() {
        return new StiefelOptions(1e-3, Stiefel.Metric.CANONICAL, Retraction.QR);
    }

    /**
     * Returns the options of a fidelity: {@code paper} has the common learning rate, {@code authors} the Euclidean metric and a constant rate of 1e-5 without momentum; both do not fix the signs of QR.
     */
    public static StiefelOptions of(Fidelity fidelity) {
        return switch (fidelity) {
            case PAPER -> new StiefelOptions(1, Stiefel.Metric.CANONICAL, Retraction.QR_UNSIGNED);
            case AUTHORS ->
                new StiefelOptions(1, Stiefel.Metric.EUCLIDEAN, Retraction.QR_UNSIGNED, Optional.of(AUTHORS_RATE));
            case CORRECTED -> defaults();
        };
    }
}
