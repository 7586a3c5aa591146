package org.gramian.basis;

import java.util.Arrays;

/**
 * Area under the ROC curve: the probability that an anomalous image has a higher score than a good one, ties counted half.
 *
 * @param ofGood for each good image the share of anomalous ones above it
 * @param ofAnomalous for each anomalous image the share of good ones below it
 */
@SuppressWarnings("ArrayRecordComponent") // made once, read only
public record Auroc(double[] ofGood, double[] ofAnomalous) {
    public static Auroc of(double[] good, double[] anomalous) {
        double[] ofGood = new double[good.length];
        double[] ofAnomalous = new double[anomalous.length];
        double[] sortedGood = good.clone();
        double[] sortedAnomalous = anomalous.clone();
        Arrays.sort(sortedGood);
        Arrays.sort(sortedAnomalous);
        for (int i = 0; i < good.length; i++) {
            ofGood[i] = 1 - below(sortedAnomalous, good[i]);
        }
        for (int i = 0; i < anomalous.length; i++) {
            ofAnomalous[i] = below(sortedGood, anomalous[i]);
        }
        return new Auroc(ofGood, ofAnomalous);
    }

    /** Returns the share of values below a value, equal ones counted half. */
    private static double below(double[] sorted, double value) {
        return (rank(sorted, value, false) + rank(sorted, value, true)) / (2.0 * sorted.length);
    }

    /** Returns the number of values below a value, or not above it. */
    static int rank(double[] sorted, double value, boolean withEqual) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < value || (withEqual && sorted[middle] == value)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    public double value() {
        return Arrays.stream(ofAnomalous).average().orElseThrow();
    }

    /** Returns the standard error of the difference to another detector on the same images (DeLong et al., Biometrics 44, 1988). */
    public double errorOfDifference(Auroc other) {
        return Math.sqrt(variance(ofGood, other.ofGood) + variance(ofAnomalous, other.ofAnomalous));
    }

    /** Returns the standard error. */
    public double error() {
        return Math.sqrt(
                variance(ofGood, new double[ofGood.length]) + variance(ofAnomalous, new double[ofAnomalous.length]));
    }

    private static double variance(double[] a, double[] b) {
        int n = a.length;
        double mean = 0;
        for (int i = 0; i < n; i++) {
            mean += (a[i] - b[i]) / n;
        }
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
        }
        return n < 2 ? 0 : sum / (n - 1.0) / n;
    }
}
