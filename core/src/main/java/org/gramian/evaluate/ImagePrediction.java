package org.gramian.evaluate;

import org.gramian.basis.QuotedText;
import org.gramian.model.Logits;

/**
 * Prediction for one labelled image.
 *
 * @param logits finite, one per class, of magnitude at most {@value #MOST}; of several crops, {@link
 *     Logits#meanProbability}
 */
public record ImagePrediction(String name, int truth, Logits logits) {
    /** Above the scores of any network, and small enough that no sum or quotient of scores overflows. */
    public static final double MOST = 1e100;

    /** @throws IllegalArgumentException with the image's name, if a score is not finite or the truth is no class */
    public ImagePrediction {
        if (name.isEmpty()) {
            throw new IllegalArgumentException("expected the name of an image, found an empty one");
        }
        if (truth < 0 || truth >= logits.size()) {
            throw new IllegalArgumentException("%s: expected a class from 0 to %d as truth, found %d"
                    .formatted(QuotedText.bare(name), logits.size() - 1, truth));
        }
        for (int k = 0; k < logits.size(); k++) {
            if (!(Math.abs(logits.get(k)) <= MOST)) {
                throw new IllegalArgumentException(
                        QuotedText.bare(name) + ": expected finite scores of magnitude at most "
                                + MOST + ", found " + logits.get(k) + " for class " + k
                                + "; check the image and the model's weights");
            }
        }
    }

    /** Returns the index of the predicted class. */
    public int predicted() {
        return logits.top();
    }

    /** Returns whether the predicted class is the true one. */
    public boolean right() {
        return predicted() == truth;
    }
}
