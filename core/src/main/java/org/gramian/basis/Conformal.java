package org.gramian.basis;

import java.util.Arrays;

/**
 * Conformal p-values: scores of good images that took no part in fitting, in ascending order.
 *
 * <p>{@code p(s) = (1 + #{i : sᵢ ≥ s}) / (n + 1)}. If good images are exchangeable, {@code P(p ≤ α) ≤ α} (V. Vovk, A. Gammerman and G.
 * Shafer, "Algorithmic Learning in a Random World", 2005). For scores out of k folds the promise holds in theory up to a factor of 2
 * (Barber et al., "Predictive inference with the jackknife+", 2021).
 */
@SuppressWarnings("ArrayRecordComponent") // copied
public record Conformal(double[] scores) {
    public Conformal {
        scores = scores.clone();
        Arrays.sort(scores);
    }

    /** Returns the p-value of a score. */
    public double pValue(double score) {
        int low = Auroc.rank(scores, score, false);
        return (1.0 + scores.length - low) / (scores.length + 1.0);
    }

    /**
     * Returns the largest score that is not yet anomalous at a rate of false alarms: anomalous scores are greater. Infinite if the
     * scores are too few for any to be.
     */
    public double threshold(double falseAlarms) {
        int alarms = (int) Math.floor(falseAlarms * (scores.length + 1) + 1e-9) - 1; // scores that may be as large
        return alarms < 0 ? Double.POSITIVE_INFINITY : scores[scores.length - 1 - Math.min(alarms, scores.length - 1)];
    }

    /** Returns a rate, or the lowest at which a score can be anomalous if the scores are too few for it. */
    public static double reachable(double rate, int scores) {
        return Math.max(rate, 1 / (scores + 1.0));
    }

    /** Returns the number of scores that a rate of false alarms needs. */
    public static int needed(double falseAlarms) {
        return (int) Math.ceil(1 / falseAlarms - 1 - 1e-9);
    }
}
