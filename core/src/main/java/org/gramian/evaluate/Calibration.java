package org.gramian.evaluate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Calibration of the predicted probabilities.
 *
 * @param logLoss {@code -mean log p_truth}, natural logarithm, computed in log space without clipping
 * @param brier multi-class Brier score {@code mean sum_k (p_k - [k = truth])²}, from 0 to 2 (Brier 1950)
 * @param error the expected calibration error, {@code sum_b n_b / n |accuracy_b - confidence_b|} over {@link #BINS} bins
 *     of equal width of the highest probability (Guo et al. 2017, On Calibration of Modern Neural Networks)
 * @param bins of the reliability diagram, in ascending order
 */
public record Calibration(double logLoss, double brier, double error, List<Bin> bins) {
    /** The number of bins in Guo et al. */
    public static final int BINS = 15;

    /**
     * Images whose highest probability lies in {@code (low, high]}.
     *
     * @param count number of images; the means are 0 if there are none
     * @param confidence mean of their highest probabilities
     */
    public record Bin(double low, double high, int count, double confidence, double accuracy) {}

    public Calibration {
        bins = List.copyOf(bins);
    }

    /**
     * Fall of the log loss from one model to another on the same images.
     *
     * @param mean of the paired differences {@code d_i = loss_before,i − loss_after,i}; positive if the second model is better
     * @param standardError of the mean, {@code √(Σ (d_i − d̄)² / (n (n − 1)))}; infinite for one image
     */
    public record Gain(double mean, double standardError) {
        /** Compares two evaluations of the same images, each under its temperature. */
        public static Gain of(Evaluation before, Evaluation after) {
            PairedTest.of(before, after); // requires the same images
            double[] differences = new double[before.predictions().size()];
            Arrays.setAll(differences, i -> loss(before, i) - loss(after, i));
            int n = differences.length;
            double mean = Arrays.stream(differences).sum() / n;
            double squares =
                    Arrays.stream(differences).map(d -> (d - mean) * (d - mean)).sum();
            return new Gain(mean, n == 1 ? Double.POSITIVE_INFINITY : Math.sqrt(squares / n / (n - 1)));
        }

        /** Returns whether the gain exceeds its standard error. */
        public boolean isSignificant() {
            return mean > standardError;
        }

        /** Returns whether there is a loss beyond the standard error. */
        public boolean isSignificantLoss() {
            return mean < -standardError;
        }

        private static double loss(Evaluation evaluation, int index) {
            ImagePrediction one = evaluation.predictions().get(index);
            return -one.logits()
                    .logProbability(one.truth(), evaluation.temperature().value());
        }
    }

    /** Computes the calibration under a temperature. */
    static Calibration of(List<ImagePrediction> predictions, Temperature temperature) {
        double brier = 0;
        int[] counts = new int[BINS];
        int[] right = new int[BINS];
        double[] confidences = new double[BINS];
        for (ImagePrediction prediction : predictions) {
            double[] probabilities = prediction.logits().probabilities(temperature.value());
            brier += brier(probabilities, prediction.truth());
            double confidence = probabilities[prediction.predicted()];
            int bin = Math.clamp((long) Math.ceil(confidence * BINS) - 1, 0, BINS - 1);
            counts[bin]++;
            right[bin] += prediction.right() ? 1 : 0;
            confidences[bin] += confidence;
        }
        List<Bin> bins = new ArrayList<>();
        for (int b = 0; b < BINS; b++) {
            double divisor = Math.max(1, counts[b]);
            bins.add(new Bin(
                    (double) b / BINS, (b + 1.0) / BINS, counts[b], confidences[b] / divisor, right[b] / divisor));
        }
        int n = predictions.size();
        double error = bins.stream()
                .mapToDouble(bin -> (double) bin.count() / n * Math.abs(bin.accuracy() - bin.confidence()))
                .sum();
        return new Calibration(logLoss(predictions, temperature.value()), brier / n, error, bins);
    }

    static double logLoss(List<ImagePrediction> predictions, double temperature) {
        double sum = 0;
        for (ImagePrediction prediction : predictions) {
            sum -= prediction.logits().logProbability(prediction.truth(), temperature);
        }
        return sum / predictions.size();
    }

    private static double brier(double[] probabilities, int truth) {
        double sum = 0;
        for (int k = 0; k < probabilities.length; k++) {
            double difference = probabilities[k] - (k == truth ? 1 : 0);
            sum += difference * difference;
        }
        return sum;
    }
}
