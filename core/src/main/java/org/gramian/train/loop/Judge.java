package org.gramian.train.loop;

import java.util.List;
import org.gramian.model.Logits;
import org.gramian.train.recipe.Judgement;

/** How good a model is by now, asked of pictures that were held back from training. */
final class Judge {
    private final PictureScores scores;
    private final int[] labels;

    Judge(PictureScores scores, int[] labels) {
        this.scores = scores;
        this.labels = labels;
    }

    Judgement judge() {
        List<Logits> all = scores.compute();
        int wrong = 0;
        double loss = 0;
        for (int i = 0; i < labels.length; i++) {
            Logits logits = all.get(i);
            wrong += logits.top() == labels[i] ? 0 : 1;
            loss -= logits.logProbability(labels[i], 1);
        }
        return new Judgement((double) wrong / labels.length, loss / labels.length);
    }
}
