package org.gramian.train.loop;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.recipe.Judgement;

/** How good a model is by now, asked of pictures that were held back from training. */
@FunctionalInterface
interface Judge {
    Judgement judge();

    /** By scores that are computed here. */
    static Judge of(PictureScores scores, int[] labels) {
        return () -> {
            List<Logits> all = scores.compute();
            JudgedPictures judged = JudgedPictures.NONE;
            for (int i = 0; i < labels.length; i++) {
                judged = judged.plus(all.get(i), labels[i]);
            }
            return judged.judgement();
        };
    }
}
