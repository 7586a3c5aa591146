package org.gramian.inspect;

import java.util.Arrays;

/**
 * How a number spreads over images: the value below which a tenth, a half and nine tenths of them lie.
 *
 * @param low the quantile of 10 %
 * @param median that of 50 %
 * @param high that of 90 %
 */
public record QuantileRange(double low, double median, double high) {
    /** Of at least one number, in any order; between two of them by a straight line. */
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
