package org.gramian.evaluate;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.gramian.basis.QuotedText;

/**
 * All predictions of one fold, from which every number follows.
 *
 * @param setting what was measured on
 * @param classes class names; truths and scores are in their order
 * @param predictions at least one; kept in the order of their names, so that no number depends on how they came
 * @param temperature what the scores are divided by before the softmax; changes probabilities, never the predicted class
 */
public record Evaluation(
        Setting setting, List<String> classes, List<ImagePrediction> predictions, Temperature temperature) {
    /** @throws IllegalArgumentException if names repeat, nothing was predicted, or scores do not fit the classes */
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

    /** Without calibration: {@code T = 1}. */
    public Evaluation(Setting setting, List<String> classes, List<ImagePrediction> predictions) {
        this(setting, classes, predictions, Temperature.NONE);
    }

    /** The same scores under another temperature, which should come from images that are not among these. */
    public Evaluation calibrated(Temperature other) {
        return new Evaluation(setting, classes, predictions, other);
    }

    /** How many images got their class first. */
    public Proportion accuracy() {
        return top(1);
    }

    /** How many images got their class among the first {@code count}: all, where there are no more classes. */
    public Proportion top(int count) {
        long right = predictions.stream()
                .filter(prediction -> prediction.logits().rank(prediction.truth()) < count)
                .count();
        return new Proportion((int) right, predictions.size());
    }

    /** Who was taken for whom. */
    public ConfusionMatrix confusion() {
        return ConfusionMatrix.of(this);
    }

    /** How far the probabilities can be believed, under the temperature. */
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
