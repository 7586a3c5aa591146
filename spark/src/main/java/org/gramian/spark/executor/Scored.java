package org.gramian.spark.executor;

import java.util.Arrays;
import java.util.Map;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.gramian.model.ModelCard;
import org.gramian.model.Outcome;
import org.gramian.model.Scoring;
import org.jspecify.annotations.Nullable;

/**
 * What came of one image: results, as far as they were wanted, or an error and none of them.
 *
 * @param card of the model
 * @param answer null where there is none
 * @param descriptor null where there is none
 * @param failure null where there are results
 */
record Scored(
        ModelCard card,
        @Nullable Answer answer,
        @Nullable Vector descriptor,
        @Nullable Failure failure) {
    /**
     * Why an image has no results.
     *
     * @param kind a {@link org.gramian.image.Reading.Problem} by name, or {@value #NOT_FINITE}
     * @param reason a sentence for people
     */
    record Failure(String kind, String reason) {}

    /** The kind of failure of an image that could be read but whose scores are no numbers. */
    static final String NOT_FINITE = "NOT_FINITE";

    /** Of an image that was computed. */
    static Scored of(Map<Engine.Rows, float[][]> rows, ModelCard card) {
        float[][] crops = rows.get(Engine.Rows.DESCRIPTORS);
        Vector descriptor = crops == null ? null : vector(Scoring.mean(crops));
        float[][] scores = rows.get(Engine.Rows.SCORES);
        if (scores == null) {
            return new Scored(card, null, descriptor, null);
        }
        return switch (Outcome.of(scores, card)) {
            case Outcome.Answered(Answer answer) -> new Scored(card, answer, descriptor, null);
            case Outcome.Failed(String reason) -> new Scored(card, null, null, new Failure(NOT_FINITE, reason));
        };
    }

    /** Of an image that cannot be read. */
    static Scored of(Unreadable problem, ModelCard card) {
        return new Scored(card, null, null, new Failure(problem.problem().name(), problem.reason()));
    }

    private static Vector vector(float[] numbers) {
        double[] wide = new double[numbers.length];
        Arrays.setAll(wide, i -> numbers[i]);
        return Vectors.dense(wide);
    }

    /** The probabilities of an answer, in the order of the classes. */
    Vector probabilities(Answer given) {
        return Vectors.dense(given.logits().probabilities(card.temperature()));
    }
}
