package org.gramian.model;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.gramian.basis.JsonText;

/**
 * Prediction of a model for one image: all classes, the most probable first.
 *
 * @param logits scores before the softmax, in the order of the model's classes
 * @param ranking every class with its probability, in descending order; of equally probable classes the one with the lower
 *     index comes first
 * @param pValue share of images of known classes that look at least as unlike them; empty if the model classifies every image
 * @param isUnknown whether the p-value is at most the rate of the model's {@link OpenSet}: the image is of no class
 * @since 0.1
 */
public record Prediction(Logits logits, List<ClassProbability> ranking, OptionalDouble pValue, boolean isUnknown) {
    /**
     * A class and its probability.
     *
     * @param name the class
     * @param probability from 0 to 1
     */
    public record ClassProbability(String name, double probability) {}

    public Prediction {
        ranking = List.copyOf(ranking);
    }

    /**
     * Computes the probabilities {@code softmax(logits / T)} at the temperature {@code T} of the card.
     *
     * @throws IllegalArgumentException if the number of scores is not the number of classes, or a score is not finite
     */
    public static Prediction of(Logits logits, ModelCard card) {
        List<String> classes = card.classes();
        if (logits.size() != classes.size()) {
            throw new IllegalArgumentException(
                    "expected a score for each of " + classes.size() + " classes, found " + logits.size());
        }
        for (int k = 0; k < logits.size(); k++) {
            if (!Double.isFinite(logits.get(k))) {
                throw new IllegalArgumentException(
                        "expected a finite score for the class '" + classes.get(k) + "', found " + logits.get(k));
            }
        }
        double[] probabilities = logits.probabilities(card.temperature());
        List<ClassProbability> ranking = IntStream.range(0, classes.size())
                .boxed()
                .sorted(Comparator.comparingDouble((Integer k) -> -logits.get(k)))
                .map(k -> new ClassProbability(classes.get(k), probabilities[k]))
                .toList();
        return new Prediction(logits, ranking, OptionalDouble.empty(), false);
    }

    /**
     * Returns this prediction with its p-value.
     *
     * @param nearest distance from the nearest class, the mean over the crops
     */
    Prediction withDistance(double nearest, ModelCard card) {
        if (card.openSet().isEmpty()) {
            return this;
        }
        double p = card.openSet().get().pValue(nearest, logits, card.temperature());
        return new Prediction(
                logits, ranking, OptionalDouble.of(p), card.openSet().get().isUnknown(p));
    }

    /** Returns the most probable class with its probability. */
    public ClassProbability best() {
        return ranking.getFirst();
    }

    /** Returns the name of the most probable class. */
    public String className() {
        return best().name();
    }

    /** Returns the probability of the most probable class. */
    public double probability() {
        return best().probability();
    }

    /** Returns the {@code k} most probable classes, or all if there are fewer. */
    public List<ClassProbability> top(int k) {
        if (k < 1) {
            throw new IllegalArgumentException("expected at least 1 class, found " + k);
        }
        return ranking.subList(0, Math.min(k, ranking.size()));
    }

    /** Returns the most probable class, its probability, the p-value, {@code unknown} and the whole ranking as a JSON object. */
    public String toJson() {
        return JsonText.of(asMap(ranking.size()));
    }

    /**
     * Returns the content of {@link #toJson}, by name.
     *
     * @param top number of classes in {@code top}
     */
    public SequencedMap<String, Object> asMap(int top) {
        SequencedMap<String, Object> json = JsonText.object("class", className(), "probability", probability());
        pValue.ifPresent(p -> json.put("p_value", p));
        json.put("unknown", isUnknown);
        json.put(
                "top",
                top(top).stream()
                        .map(one -> JsonText.object("class", one.name(), "probability", one.probability()))
                        .toList());
        return json;
    }
}
