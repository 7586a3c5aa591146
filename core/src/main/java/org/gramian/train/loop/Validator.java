package org.gramian.train.loop;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.recipe.ValidationScore;

/** Computes the score of the current model on the validation set. */
@FunctionalInterface
interface Validator {
    ValidationScore validate();

    /** Returns a validator by the scores of the validation images. */
    static Validator of(ImageScores scores, int[] labels) {
        return () -> {
            List<Logits> all = scores.compute();
            ValidationCounts counts = ValidationCounts.NONE;
            for (int i = 0; i < labels.length; i++) {
                counts = counts.plus(all.get(i), labels[i]);
            }
            return counts.score();
        };
    }
}
