package org.gramian.train.loop;

import java.io.Serializable;
import org.gramian.model.Logits;
import org.gramian.train.recipe.ValidationScore;

/**
 * What some held-back images say of a model; those of several machines can be added up.
 *
 * @param count of the images
 * @param wrong those whose likeliest class is not theirs
 * @param loss sum of their cross-entropies {@code −log p} of the true class
 */
public record ValidationCounts(long count, long wrong, double loss) implements Serializable {
    public static final ValidationCounts NONE = new ValidationCounts(0, 0, 0);

    /** These and one more. */
    public ValidationCounts plus(Logits logits, int label) {
        return new ValidationCounts(
                count + 1, wrong + (logits.top() == label ? 0 : 1), loss - logits.logProbability(label, 1));
    }

    /** These and others. */
    public ValidationCounts plus(ValidationCounts others) {
        return new ValidationCounts(count + others.count, wrong + others.wrong, loss + others.loss);
    }

    /** Means over the images, of which there is at least one. */
    public ValidationScore judgement() {
        return new ValidationScore((double) wrong / count, loss / count);
    }
}
