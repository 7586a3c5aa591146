package org.gramian.model;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a model says of an image: all classes, the likeliest first.
 *
 * @param logits scores before the softmax, in the order of the classes
 * @param guesses one for each class; of equally likely ones the earlier class comes first
 */
public record Answer(Logits logits, List<Guess> guesses) {
    /** A class and how likely it is. */
    public record Guess(String name, double probability) {}

    public Answer {
        guesses = List.copyOf(guesses);
    }

    /**
     * The answer that scores amount to, at the temperature of the card.
     *
     * @throws IllegalArgumentException if there are not as many scores as classes, or one is not finite
     */
    public static Answer of(Logits logits, ModelCard card) {
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
        List<Guess> guesses = IntStream.range(0, classes.size())
                .boxed()
                .sorted(Comparator.comparingDouble((Integer k) -> -logits.get(k)))
                .map(k -> new Guess(classes.get(k), probabilities[k]))
                .toList();
        return new Answer(logits, guesses);
    }

    /** The likeliest class. */
    public Guess best() {
        return guesses.getFirst();
    }

    /** The {@code k} likeliest classes, or all where there are no more. */
    public List<Guess> top(int k) {
        if (k < 1) {
            throw new IllegalArgumentException("expected at least 1 class, found " + k);
        }
        return guesses.subList(0, Math.min(k, guesses.size()));
    }
}
