package org.gramian.train.loop;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.recipe.ValidationScore;

/** How good a model is by now, asked of images that were held back from training. */
@FunctionalInterface
interface Validator {
    ValidationScore judge();

    /** By scores that are computed here. */
    static Validator of(ImageScores scores, int[] labels) {
        return () -> {
            List<Logits> all = scores.compute();
            ValidationCounts judged = ValidationCounts.NONE;
            for (int i = 0; i < labels.length; i++) {
                judged = judged.plus(all.get(i), labels[i]);
            }
            return judged.judgement();
        };
    }
}
