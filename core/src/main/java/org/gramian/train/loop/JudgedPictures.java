package org.gramian.train.loop;

import java.io.Serializable;
import org.gramian.model.Logits;
import org.gramian.train.recipe.Judgement;

/**
 * What some held-back pictures say of a model; those of several machines can be added up.
 *
 * @param count of the pictures
 * @param wrong those whose likeliest class is not theirs
 * @param loss sum of their cross-entropies {@code −log p} of the true class
 */
public record JudgedPictures(long count, long wrong, double loss) implements Serializable {
    public static final JudgedPictures NONE = new JudgedPictures(0, 0, 0);

    /** These and one more. */
    public JudgedPictures plus(Logits logits, int label) {
        return new JudgedPictures(
                count + 1, wrong + (logits.top() == label ? 0 : 1), loss - logits.logProbability(label, 1));
    }

    /** These and others. */
    public JudgedPictures plus(JudgedPictures others) {
        return new JudgedPictures(count + others.count, wrong + others.wrong, loss + others.loss);
    }

    /** Means over the pictures, of which there is at least one. */
    public Judgement judgement() {
        return new Judgement((double) wrong / count, loss / count);
    }
}
