package org.gramian.train.loop;

import java.io.Serializable;
import org.gramian.model.Logits;
import org.gramian.train.recipe.ValidationScore;

/**
 * Errors and losses of some validation images; counts of several machines can be added.
 *
 * @param count images
 * @param wrong images whose predicted class is not their label
 * @param loss sum of the cross-entropies {@code −log p} of the true class
 */
public record ValidationCounts(long count, long wrong, double loss) implements Serializable {
    public static final ValidationCounts NONE = new ValidationCounts(0, 0, 0);

    /** Returns the counts with one more image. */
    public ValidationCounts plus(Logits logits, int label) {
        return new ValidationCounts(
                count + 1, wrong + (logits.top() == label ? 0 : 1), loss - logits.logProbability(label, 1));
    }

    /** Returns the sum of these and other counts. */
    public ValidationCounts plus(ValidationCounts others) {
        return new ValidationCounts(count + others.count, wrong + others.wrong, loss + others.loss);
    }

    /** Returns the means over at least one image. */
    public ValidationScore score() {
        return new ValidationScore((double) wrong / count, loss / count);
    }
}
