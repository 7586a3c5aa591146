package org.gramian.evaluate;

import java.util.Locale;
import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * Proportion of correct predictions.
 *
 * @param count number of predictions, at least 1
 * @since 0.1
 */
public record Proportion(int right, int count) {
    /** The 97.5 % quantile of the normal distribution. */
    private static final double Z = NormalDistribution.of(0, 1).inverseSurvivalProbability(0.025);

    /** A 95 % confidence interval. */
    public record Interval(double low, double high) {
        /** Returns whether a value lies within the interval. */
        public boolean contains(double value) {
            return low <= value && value <= high;
        }

        /** Returns {@code high - low}. */
        public double width() {
            return high - low;
        }
    }

    public Proportion {
        if (count < 1 || right < 0 || right > count) {
            throw new IllegalArgumentException(
                    "expected 0 to n of n >= 1 as a proportion, found " + right + " of " + count);
        }
    }

    /** Returns {@code right / count}. */
    public double value() {
        return (double) right / count;
    }

    /**
     * Returns Wilson's score interval of {@code p = right / n}: {@code (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)}. It
     * covers the sampling of test images only, not that of training runs.
     *
     * <p>Unlike {@code p ± z sqrt(p(1-p)/n)} it stays within 0 and 1, and has a width at {@code p = 0} and {@code p = 1}. Wilson
     * 1927; recommended by Brown, Cai and DasGupta 2001.
     */
    public Interval interval() {
        double n = count;
        double p = right / n;
        double centre = p + Z * Z / (2 * n);
        double half = Z * Math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
        double scale = 1 + Z * Z / n;
        // Exact at 0 and n: with rounding the interval would not contain the estimate.
        return new Interval(right == 0 ? 0 : (centre - half) / scale, right == count ? 1 : (centre + half) / scale);
    }

    /** Returns e.g. {@code 75.3 (72.5–77.9)}, in percent. */
    public String text() {
        Interval interval = interval();
        return String.format(
                Locale.ROOT, "%.1f (%.1f–%.1f)", 100 * value(), 100 * interval.low(), 100 * interval.high());
    }
}
