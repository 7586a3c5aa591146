package org.gramian.evaluate;

import java.util.Comparator;
import java.util.List;
import org.gramian.linear.SoftmaxTemperature;

/**
 * Temperature scaling: scores are divided by {@code T > 0} before the softmax. {@code T > 1} lowers the confidence; the
 * predicted class stays the same. Guo et al. 2017, On Calibration of Modern Neural Networks.
 *
 * <p>It is fitted on validation images, not on training or test images.
 *
 * @param value {@code T}
 * @param outcome result of the fit
 */
public record Temperature(double value, Outcome outcome) {
    /** No scaling. */
    public static final Temperature NONE = new Temperature(1, Outcome.NONE);

    /** Result of the fit. The temperature is 1 except for {@link #FITTED}. */
    public enum Outcome {
        /** Nothing was fitted. */
        NONE("no temperature fitted"),

        /** The only minimum of the log loss. */
        FITTED("fitted on validation images"),

        /** The log loss decreases without a minimum as {@code T} goes to 0. */
        ALL_RIGHT("not calibrated: all validation images are classified correctly, so the confidence cannot be fitted; "
                + "use a larger validation set"),

        /** The log loss decreases without a minimum as {@code T} goes to infinity, or does not depend on it. */
        NO_INFORMATION("not calibrated: on the validation images the scores are no better than uniform ones; check the"
                + " training first");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        /** Returns a description. */
        public String text() {
            return text;
        }
    }

    public Temperature {
        if (!(value > 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException("expected a finite temperature above 0, found " + value);
        }
        if (outcome != Outcome.FITTED && value != 1) {
            throw new IllegalArgumentException(
                    "expected the temperature 1 where none was fitted (" + outcome + "), found " + value);
        }
    }

    /**
     * Fits the temperature of the lowest log loss. With {@code b = 1/T} the loss {@code f(b) = mean(log sum_k exp(b z_k) - b
     * z_truth)} is convex, so there is one minimum, or none at a finite {@code T > 0}: then the value is 1 and {@link #outcome}
     * has the reason. On these predictions the log loss is never higher than without it.
     *
     * @param validation predictions for at least one image, in any order
     */
    public static Temperature fit(List<ImagePrediction> validation) {
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
        SoftmaxTemperature softmax = new SoftmaxTemperature(scores, truths);
        if (softmax.isUninformative()) {
            return new Temperature(1, Outcome.NO_INFORMATION);
        }
        if (softmax.isUnbounded()) {
            return new Temperature(1, Outcome.ALL_RIGHT);
        }
        double temperature = softmax.fit().orElse(1);
        // If T is 1 up to rounding, the loss may be higher by rounding; then 1 is taken.
        boolean lower = Calibration.logLoss(sorted, temperature) <= Calibration.logLoss(sorted, 1);
        return new Temperature(lower ? temperature : 1, Outcome.FITTED);
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
