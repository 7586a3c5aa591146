package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.linear.SoftmaxTemperature;
import org.gramian.model.ModelCard;

/**
 * Calibration of the predicted probabilities.
 *
 * @param logLoss {@code -mean log p_truth}, natural logarithm, computed in log space without clipping
 * @param brier multi-class Brier score {@code mean sum_k (p_k - [k = truth])²}, from 0 to 2 (Brier 1950)
 * @param error the expected calibration error, {@code sum_b n_b / n |accuracy_b - confidence_b|} over {@link #BINS} bins
 *     of equal width of the highest probability (Guo et al. 2017, On Calibration of Modern Neural Networks)
 * @param bins of the reliability diagram, in ascending order
 * @since 0.1
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

    /**
     * Temperature scaling: scores are divided by {@code T > 0} before the softmax. {@code T > 1} lowers the confidence; the
     * predicted class stays the same. Guo et al. 2017, On Calibration of Modern Neural Networks.
     *
     * <p>It is fitted on validation images, not on training or test images.
     *
     * @param value {@code T}
     * @param source what calibrated the probabilities, as {@code 120 validation images} or {@code 5-fold cross-validation of 933
     *     training images}; a solver that cross-validates has divided the scores already, so that {@code T = 1} may be calibrated
     */
    public record Temperature(double value, String source) {
        /** Key of {@link #source} in the provenance of a model. */
        public static final String CALIBRATION = "calibration";

        /** No scaling of scores that nothing calibrated. */
        public static final Temperature NONE = new Temperature(1, "none");

        /**
         * Weight λ of the prior: its standard deviation of 1/T about 1 is 1/√λ = 0.5. Fifty validation images and more outweigh it, three
         * hardly move it.
         */
        static final double PRIOR = 4;

        public Temperature {
            if (!(value >= ModelCard.LEAST_TEMPERATURE) || Double.isInfinite(value)) {
                throw new IllegalArgumentException("expected a finite temperature of at least "
                        + ModelCard.LEAST_TEMPERATURE + ", found " + value);
            }
        }

        /** Returns the temperature of a model. */
        public static Temperature of(ModelCard card) {
            return new Temperature(
                    card.temperature(),
                    card.origin()
                            .getOrDefault(CALIBRATION, card.temperature() == 1 ? NONE.source : "validation images"));
        }

        /** Returns whether the probabilities are calibrated. */
        @JsonIgnore
        public boolean isCalibrated() {
            return !source.equals(NONE.source);
        }

        /**
         * Fits the temperature of the lowest log loss under a prior that keeps it near 1 if there are few images. With {@code b = 1/T}
         * it minimizes
         *
         * <pre>{@code J(b) = Σ_i (log Σ_k exp(b z_ik) − b z_i,truth) + λ (b − 1 − log b),   λ = 4,}</pre>
         *
         * the negative logarithm of the posterior under a gamma distribution of b with mode 1. J is strictly convex and infinite at
         * both ends, so there is one minimum, also where all images are right or wrong. The prior is lowest at 1, so on these predictions the
         * log loss is never higher than without the temperature.
         *
         * @param validation predictions for at least one image, in any order
         * @param before what calibrated the scores already; empty for scores of a network
         */
        public static Temperature fit(List<ImagePrediction> validation, Optional<String> before) {
            if (validation.isEmpty()) {
                throw new IllegalArgumentException("expected validation images to fit a temperature on, found none");
            }
            // In the order of an evaluation, so that sums round the same way.
            List<ImagePrediction> sorted = validation.stream()
                    .sorted(Comparator.comparing(ImagePrediction::name))
                    .toList();
            List<double[]> scores = sorted.stream().map(Temperature::centred).toList();
            double[] truths = new double[sorted.size()];
            for (int i = 0; i < truths.length; i++) {
                truths[i] = scores.get(i)[sorted.get(i).truth()];
            }
            double temperature = SoftmaxTemperature.fit(scores, truths, PRIOR).orElse(1);
            // If T is 1 up to rounding, the loss may be higher by rounding; then 1 is taken.
            boolean lower = Calibration.logLoss(sorted, temperature) <= Calibration.logLoss(sorted, 1);
            String images = sorted.size() + (sorted.size() == 1 ? " validation image" : " validation images");
            return new Temperature(
                    lower ? temperature : 1,
                    before.map(one -> one + ", then " + images).orElse(images));
        }

        /** Subtracts the maximum score: probabilities stay the same, and no exponential overflows. */
        private static double[] centred(ImagePrediction prediction) {
            double[] centred = prediction.logits().toArray();
            double max = centred[prediction.predicted()];
            for (int k = 0; k < centred.length; k++) {
                centred[k] -= max;
            }
            return centred;
        }
    }
}
