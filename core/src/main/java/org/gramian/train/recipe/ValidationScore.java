package org.gramian.train.recipe;

/**
 * How good a model was after an epoch: on images held back from training, or, where there are none, by the training
 * loss alone; never on test images.
 *
 * @param error part of the held-back images that were wrong; 0 where there are none
 * @param loss mean cross-entropy
 */
public record ValidationScore(double error, double loss) {
    /** Worse than any other. */
    public static final ValidationScore NONE = new ValidationScore(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

    /** Less of the loss than this part is no progress, only rounding. */
    private static final double LEAST = 1e-3;

    /**
     * A lower loss. Not fewer errors: of the few images that are held back, one more or less is right by chance, while the
     * loss weighs how sure the model is of all of them.
     */
    public boolean isBetterThan(ValidationScore other) {
        return loss < other.loss * (1 - LEAST);
    }
}
