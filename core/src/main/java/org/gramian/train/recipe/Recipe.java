package org.gramian.train.recipe;

import java.util.Optional;
import org.gramian.image.augment.Augmentation;
import org.gramian.linear.LinearSolver;
import org.gramian.train.Optimizer;
import org.gramian.train.OptimizerRule;

/**
 * The recipe of a training: Algorithm 1 of the paper with its constants.
 *
 * @param augmenting of the images in stage 2; features of the frozen backbone are never augmented
 * @param solver of the classifier, in place of stage 1 or before a learned head; empty if it is trained
 * @param refit solver of the classifier on the descriptors that stage 1 ends with, kept where validation is not worse; empty for
 *     none
 * @param dropout probability for elements of descriptors in training steps
 */
public record Recipe(
        StageRecipe stage1,
        StageRecipe stage2,
        OptimizerRecipe optimizer,
        Batching batching,
        Loss loss,
        Precision precision,
        Augmenting augmenting,
        Optional<LinearSolver> solver,
        Optional<LinearSolver> refit,
        double dropout,
        long seed) {
    /** Returns the part that solves a classifier on frozen features: the same recipe without fine-tuning. */
    public Recipe frozen() {
        return with(stage1.withEpochs(0), stage2.withEpochs(0), solver);
    }

    /** Returns the part that trains a fresh head: the same recipe without a solved classifier. */
    public Recipe training() {
        return with(stage1, stage2, Optional.empty());
    }

    public Recipe withSolver(LinearSolver other) {
        return with(stage1, stage2, Optional.of(other));
    }

    private Recipe with(StageRecipe first, StageRecipe second, Optional<LinearSolver> other) {
        return new Recipe(first, second, optimizer, batching, loss, precision, augmenting, other, refit, dropout, seed);
    }

    /**
     * Augmentation of training images in stage 2.
     *
     * @param mixup α of the Beta(α, α) distribution of mixup's share (Zhang et al., 2018); 0 for none
     * @param cutmix α of that of CutMix (Yun et al., 2019); 0 for none. With both, each batch draws one of them
     */
    public record Augmenting(Augmentation policy, int imageSize, double mixup, double cutmix) {}

    public record Batching(int batch, int accumulate) {
        /** Keeps counts far from overflow. */
        private static final int MOST = 1 << 30;

        public Batching {
            if ((long) batch * accumulate > MOST) {
                throw new IllegalArgumentException("expected at most " + MOST + " crops per step, found " + accumulate
                        + " batches of " + batch + ": use fewer or smaller batches");
            }
        }
    }

    /** Precision of training steps; validation and prediction are always in float32. */
    public enum Precision {
        F32,
        /** float32 with TF32 products and convolutions (10 bits of mantissa) on CUDA; F32 elsewhere. */
        TF32,
        /**
         * In stage 2 the network's convolutions in bfloat16 and the head as with {@link #TF32}, in stage 1 as with {@link #F32};
         * meant for CUDA, slow elsewhere.
         */
        BF16
    }

    /**
     * The loss: cross-entropy with optional label smoothing and class weights.
     *
     * @param smoothing ε of label smoothing: the true class gets {@code 1 − ε + ε/k}, every other {@code ε/k} (Szegedy et al., 2016)
     */
    public record Loss(double smoothing, ClassWeights weights) {
        public enum ClassWeights {
            /** Every image counts the same. */
            NONE,
            /** Every class counts the same: an image of class k has the weight {@code n / (classes · n_k)}. */
            BALANCED
        }
    }

    /**
     * The optimizer of a recipe.
     *
     * @param ema decay of the exponential moving average of weights, which validation and the model then use; 0 for none
     */
    public record OptimizerRecipe(OptimizerRule rule, double clip, double ema) {
        public Optimizer create() {
            return new Optimizer(rule, clip, ema);
        }
    }
}
