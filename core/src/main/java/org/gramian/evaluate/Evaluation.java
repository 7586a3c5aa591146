package org.gramian.evaluate;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.gramian.basis.QuotedText;

/**
 * All predictions of one fold.
 *
 * @param classes class names; truths and scores are in their order
 * @param predictions at least one; sorted by name, so that no metric depends on the order
 * @param temperature divides the scores before the softmax
 */
public record Evaluation(
        Setting setting, List<String> classes, List<ImagePrediction> predictions, Temperature temperature) {
    /** @throws IllegalArgumentException if names repeat, there are no predictions, or scores do not fit the classes */
    public Evaluation {
        classes = List.copyOf(classes);
        predictions = predictions.stream()
                .sorted(Comparator.comparing(ImagePrediction::name))
                .toList();
        requireDistinct(classes, "classes");
        requireDistinct(predictions.stream().map(ImagePrediction::name).toList(), "images");
        for (ImagePrediction prediction : predictions) {
            if (prediction.logits().size() != classes.size()) {
                throw new IllegalArgumentException("%s: expected a score for each of %d classes, found %d"
                        .formatted(
                                QuotedText.bare(prediction.name()),
                                classes.size(),
                                prediction.logits().size()));
            }
        }
    }

    /** Creates an evaluation without calibration: {@code T = 1}. */
    public Evaluation(Setting setting, List<String> classes, List<ImagePrediction> predictions) {
        this(setting, classes, predictions, Temperature.NONE);
    }

    /** Returns the same scores under another temperature, fitted on other images. */
    public Evaluation calibrated(Temperature other) {
        return new Evaluation(setting, classes, predictions, other);
    }

    public Proportion accuracy() {
        return top(1);
    }

    /** Returns the top-k accuracy. */
    public Proportion top(int count) {
        long right = predictions.stream()
                .filter(prediction -> prediction.logits().rank(prediction.truth()) < count)
                .count();
        return new Proportion((int) right, predictions.size());
    }

    public ConfusionMatrix confusion() {
        return ConfusionMatrix.of(classes, predictions);
    }

    public Calibration calibration() {
        return Calibration.of(predictions, temperature);
    }

    private static void requireDistinct(List<String> names, String what) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("expected " + what + " to evaluate, found none");
        }
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (!seen.add(name)) {
                throw new IllegalArgumentException(
                        "expected different " + what + " to evaluate, found " + QuotedText.text(name) + " twice");
            }
        }
    }
}
