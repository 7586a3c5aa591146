package org.gramian.train.recipe;

import java.util.Optional;
import org.gramian.linear.LinearSolver;
import org.gramian.train.SgdOptions;

/**
 * How a model is trained: Algorithm 1 of the paper with its constants.
 *
 * @param stage1 the new layers on a frozen backbone
 * @param stage2 all layers
 * @param sgd momentum, weight decay and the Stiefel manifold; its rate is set by the stages
 * @param batching how many examples make a step
 * @param loss what is minimized
 * @param precision of training steps
 * @param solver of the classifier, in place of stage 1, whose epochs are 0 then; nothing where it is trained
 * @param dropout share of descriptor elements that are dropped in training steps
 * @param seed of first values, order, crops and dropout
 */
public record Recipe(
        StageRecipe stage1,
        StageRecipe stage2,
        SgdOptions sgd,
        Batching batching,
        LossRecipe loss,
        Precision precision,
        Optional<LinearSolver> solver,
        double dropout,
        long seed) {
    public Recipe {
        if (!(dropout >= 0 && dropout < 1)) {
            throw new IllegalArgumentException("dropout: expected a share of at least 0 and below 1, found " + dropout);
        }
    }

    /** A recipe without dropout. */
    public Recipe(
            StageRecipe stage1,
            StageRecipe stage2,
            SgdOptions sgd,
            Batching batching,
            LossRecipe loss,
            Precision precision,
            Optional<LinearSolver> solver,
            long seed) {
        this(stage1, stage2, sgd, batching, loss, precision, solver, 0, seed);
    }

    /** A recipe in which everything is trained. */
    public Recipe(
            StageRecipe stage1,
            StageRecipe stage2,
            SgdOptions sgd,
            Batching batching,
            LossRecipe loss,
            Precision precision,
            long seed) {
        this(stage1, stage2, sgd, batching, loss, precision, Optional.empty(), seed);
    }

    /**
     * How many examples make a step.
     *
     * @param batch crops that are computed at once
     * @param accumulate batches whose gradients are added up before a step
     */
    public record Batching(int batch, int accumulate) {
        /** More crops than that no training has, and counts stay far from their bounds. */
        private static final int MOST = 1 << 30;

        public Batching {
            if (batch < 1 || accumulate < 1) {
                throw new IllegalArgumentException("at least 1 crop in a batch and 1 batch in a step are needed, found "
                        + batch + " and " + accumulate);
            }
            if ((long) batch * accumulate > MOST) {
                throw new IllegalArgumentException("at most " + MOST + " crops in a step are possible, found "
                        + accumulate + " batches of " + batch + ": take fewer of them");
            }
        }
    }

    /** Precision of training steps; judging and prediction are always of single precision. */
    public enum Precision {
        /** Single precision everywhere. */
        F32,
        /** Single precision whose products and convolutions round their factors to ten bits of mantissa, on CUDA; F32 elsewhere. */
        TF32,
        /** Convolutions in bfloat16, everything else in single precision; meant for CUDA, slow elsewhere. */
        BF16
    }
}
