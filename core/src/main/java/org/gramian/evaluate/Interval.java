package org.gramian.evaluate;

import org.apache.commons.statistics.distribution.NormalDistribution;

/** A 95 % confidence interval. */
public record Interval(double low, double high) {
    /** The 97.5 % quantile of the normal distribution. */
    private static final double Z = NormalDistribution.of(0, 1).inverseSurvivalProbability(0.025);

    /**
     * Returns Wilson's score interval of a proportion {@code p = successes / count}:
     * {@code (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)}.
     *
     * <p>Unlike {@code p ± z sqrt(p(1-p)/n)} it stays within 0 and 1, and has a width at {@code p = 0} and {@code p = 1}. Wilson
     * 1927; recommended by Brown, Cai and DasGupta 2001.
     */
    public static Interval wilson(int successes, int count) {
        double n = count;
        double p = successes / n;
        double centre = p + Z * Z / (2 * n);
        double half = Z * Math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
        double scale = 1 + Z * Z / n;
        // Exact at 0 and n: with rounding the interval would not contain the estimate.
        return new Interval(
                successes == 0 ? 0 : (centre - half) / scale, successes == count ? 1 : (centre + half) / scale);
    }

    /** Returns whether a value lies within. */
    public boolean contains(double value) {
        return low <= value && value <= high;
    }

    /** Returns {@code high - low}. */
    public double width() {
        return high - low;
    }
}
