package org.gramian.evaluate;

import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * A confidence interval of 95 %.
 *
 * @param low its lower end
 * @param high its upper end
 */
public record Interval(double low, double high) {
    /** The quantile of the normal distribution that leaves 2.5 % above it. */
    private static final double Z = NormalDistribution.of(0, 1).inverseSurvivalProbability(0.025);

    /**
     * Wilson's score interval of a proportion {@code p = successes / count}:
     * {@code (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)}.
     *
     * <p>Unlike the textbook interval {@code p ± z sqrt(p(1-p)/n)} it stays within 0 and 1, and has a width where all or
     * nothing succeeded. Wilson 1927; recommended by Brown, Cai and DasGupta 2001.
     */
    public static Interval wilson(int successes, int count) {
        double n = count;
        double p = successes / n;
        double centre = p + Z * Z / (2 * n);
        double half = Z * Math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
        double scale = 1 + Z * Z / n;
        // The ends are exact at 0 and n, where rounding would leave the estimate outside its own interval.
        return new Interval(
                successes == 0 ? 0 : (centre - half) / scale, successes == count ? 1 : (centre + half) / scale);
    }

    /** Whether a value lies within. */
    public boolean contains(double value) {
        return low <= value && value <= high;
    }

    /** How wide it is. */
    public double width() {
        return high - low;
    }
}
