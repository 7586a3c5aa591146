package org.gramian.train.recipe;

/**
 * The loss: cross-entropy with optional label smoothing and class weights.
 *
 * @param smoothing ε of label smoothing: the true class gets {@code 1 − ε + ε/k}, every other {@code ε/k} (Szegedy et al., 2016)
 * @param weights of the classes
 */
public record LossRecipe(double smoothing, ClassWeights weights) {
    /** Class weights. */
    public enum ClassWeights {
        /** Every image counts the same. */
        NONE,
        /** Every class counts the same: an image of class k has the weight {@code n / (classes · n_k)}. */
        BALANCED
    }

    public LossRecipe {
        if (!(smoothing >= 0 && smoothing < 1)) {
            throw new IllegalArgumentException("label smoothing must lie in [0, 1), found " + smoothing);
        }
    }
}
