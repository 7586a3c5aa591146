package org.gramian.cli;

import java.util.List;
import org.gramian.model.Answer;

/**
 * What {@code gramian predict} says of one image.
 *
 * @param name the likeliest class, or {@value #UNKNOWN} where the model is less sure than was asked for
 * @param probability of the likeliest class, also where it is not named
 * @param top the likeliest classes
 * @param rejected whether the model is less sure than was asked for
 */
record PredictionRow(String name, double probability, List<Answer.Guess> top, boolean rejected) {
    static final String UNKNOWN = "unknown";

    /**
     * @param count how many classes to name
     * @param reject below which probability the answer is unknown
     */
    static PredictionRow of(Answer answer, int count, double reject) {
        Answer.Guess best = answer.best();
        boolean rejected = best.probability() < reject;
        return new PredictionRow(rejected ? UNKNOWN : best.name(), best.probability(), answer.top(count), rejected);
    }
}
