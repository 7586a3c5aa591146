package org.gramian.train.recipe;

/**
 * Score of a model after an epoch: on the validation set, or by the training loss without one; never on the test set.
 *
 * @param error error rate on the validation set; 0 without one
 */
public record ValidationScore(double error, double loss) {
    /** Worse than any other. */
    public static final ValidationScore NONE = new ValidationScore(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

    /** A smaller relative fall of the loss is rounding. */
    private static final double LEAST = 1e-3;

    /**
     * Whether the loss is lower. Errors are too coarse: of few validation images one more or less is correct by chance, while the
     * loss uses the probabilities of all of them.
     */
    public boolean isBetterThan(ValidationScore other) {
        return loss < other.loss * (1 - LEAST);
    }
}
