package org.gramian.spark.executor;

import java.util.Map;
import java.util.Objects;
import org.gramian.image.Reading.Unreadable;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.ModelCard;
import org.gramian.model.Outcome;
import org.gramian.model.Scoring;
import org.jspecify.annotations.Nullable;

/**
 * What came of one picture: results, as far as they were wanted, or an error and none of them.
 *
 * @param card of the model
 */
record Scored(
        ModelCard card,
        @Nullable Answer answer,
        float @Nullable [] descriptor,
        @Nullable String error) {
    /** Of a picture that was computed. */
    static Scored of(Map<Engine.Rows, float[][]> rows, ModelCard card) {
        float[][] crops = rows.get(Engine.Rows.DESCRIPTORS);
        float[] descriptor = crops == null ? null : Scoring.mean(crops);
        float[][] scores = rows.get(Engine.Rows.SCORES);
        if (scores == null) {
            return new Scored(card, null, descriptor, null);
        }
        return switch (Outcome.of(scores, card)) {
            case Outcome.Answered(Answer answer) -> new Scored(card, answer, descriptor, null);
            case Outcome.Failed(String reason) -> new Scored(card, null, null, reason);
        };
    }

    /** Of a picture that cannot be read. */
    static Scored of(Unreadable problem, ModelCard card) {
        return new Scored(card, null, null, problem.reason());
    }

    double[] probabilities() {
        Logits logits = Objects.requireNonNull(answer).logits();
        return logits.probabilities(card.temperature());
    }
}
