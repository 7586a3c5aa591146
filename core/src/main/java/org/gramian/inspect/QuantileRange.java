package org.gramian.inspect;

import java.util.Arrays;

/**
 * Quantiles of a number over images.
 *
 * @param low 10 % quantile
 * @param median 50 % quantile
 * @param high 90 % quantile
 */
public record QuantileRange(double low, double median, double high) {
    /** Computes the quantiles of at least one number, with linear interpolation. */
    static QuantileRange of(double[] numbers) {
        double[] sorted = numbers.clone();
        Arrays.sort(sorted);
        return new QuantileRange(quantile(sorted, 0.1), quantile(sorted, 0.5), quantile(sorted, 0.9));
    }

    private static double quantile(double[] sorted, double share) {
        double place = share * (sorted.length - 1);
        int before = (int) place;
        int after = Math.min(before + 1, sorted.length - 1);
        return sorted[before] + (place - before) * (sorted[after] - sorted[before]);
    }
}
