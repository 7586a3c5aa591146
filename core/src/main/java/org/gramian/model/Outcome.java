package org.gramian.model;

import org.gramian.image.ReadResult.Unreadable;

/** What came of an image: what a model says of it, or the reason why it says nothing. */
public sealed interface Outcome {
    /** The model has an answer. */
    record Answered(Answer answer) implements Outcome {}

    /**
     * There is no answer.
     *
     * @param reason for people: what was expected, what was found
     */
    record Failed(String reason) implements Outcome {}

    /** What the scores of an image's crops amount to; scores that are not finite are no answer. */
    static Outcome of(float[][] scores, ModelCard card) {
        try {
            return new Answered(Answer.of(Logits.ofCrops(scores), card));
        } catch (IllegalArgumentException notFinite) {
            return new Failed(String.valueOf(notFinite.getMessage()));
        }
    }

    /** What an image that cannot be read amounts to. */
    static Outcome of(Unreadable problem) {
        return new Failed(problem.reason());
    }
}
