package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.gramian.linear.SoftmaxTemperature;
import org.gramian.model.ModelCard;

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
            throw new IllegalArgumentException(
                    "expected a finite temperature of at least " + ModelCard.LEAST_TEMPERATURE + ", found " + value);
        }
    }

    public static Temperature of(ModelCard card) {
        return new Temperature(
                card.temperature(),
                card.origin().getOrDefault(CALIBRATION, card.temperature() == 1 ? NONE.source : "validation images"));
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
