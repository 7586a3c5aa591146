package org.gramian.run.plan;

import org.gramian.train.loop.TrainingData.Parts;

/**
 * How many images do what in a fold.
 *
 * @param name of the fold
 * @param training learned from
 * @param heldBack judge epochs
 * @param test measured with at the end
 */
public record FoldSize(String name, int training, int heldBack, int test) {
    static FoldSize of(String name, Parts parts) {
        return new FoldSize(
                name,
                parts.training().size(),
                parts.validation().size(),
                parts.test().size());
    }
}
