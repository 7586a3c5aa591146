package org.gramian.train.distill;

import java.time.Duration;
import java.util.Optional;
import org.gramian.image.augment.Augmentation;
import org.gramian.train.recipe.Recipe.Precision;

/**
 * Options of a distillation.
 *
 * @param losses weights of the losses
 * @param length epochs or time
 * @param batch images per step
 * @param reuse steps in which each crop, with what the teachers computed for it, takes part
 * @param imageSize side of the student's images
 * @param teacherSize side of the teachers' images: the same crops, resampled
 * @param learningRate of AdamW at its highest
 * @param weightDecay decoupled, on weights alone
 * @param warmup share of training in which the learning rate rises linearly
 * @param ema decay of the moving average of weights, which becomes the result; 0 for none
 * @param clip largest norm of the gradient; 0 for no clipping
 * @param mixup α of mixup's {@code λ ~ Beta(α, α)}; 0 for none
 * @param augmentation shared by student and teachers
 * @param precision of all backbones
 * @param probeEvery epochs between two linear probes; the last epoch has one, too
 * @param seed of initialization, order, augmentation and mixup
 */
public record DistillOptions(
        Losses losses,
        Length length,
        int batch,
        int reuse,
        int imageSize,
        int teacherSize,
        double learningRate,
        double weightDecay,
        double warmup,
        double ema,
        double clip,
        double mixup,
        Augmentation augmentation,
        Precision precision,
        int probeEvery,
        long seed) {
    /**
     * Weights of the losses of {@link MatchingLosses}, each averaged over the teachers; 0 turns a loss off.
     *
     * @param features of feature maps
     * @param grams of Gram matrices
     * @param logits of class scores
     * @param temperature τ of class scores
     * @param squared whether feature maps are compared by squares instead of smooth L1
     * @param cosine whether Gram matrices are compared by their cosine instead of their distance
     */
    public record Losses(
            double features, double grams, double logits, double temperature, boolean squared, boolean cosine) {
        public Losses {
            require("weight of feature matching", features, features >= 0, "of at least 0");
            require("weight of Gram matching", grams, grams >= 0, "of at least 0");
            require("weight of logit matching", logits, logits >= 0, "of at least 0");
            require("temperature", temperature, temperature > 0, "above 0");
            if (features + grams + logits == 0) {
                throw new IllegalArgumentException("expected a loss with a weight above 0, found that all are 0;"
                        + " set --feature-weight, --gram-weight or --logit-weight");
            }
        }

        /** Whether maps of the teachers are compared. */
        boolean maps() {
            return features > 0 || grams > 0;
        }
    }

    /**
     * Length of training.
     *
     * @param epochs number of epochs; ignored with a time budget
     * @param budget time from the start of the command to the end of training: the schedule follows the clock
     */
    public record Length(int epochs, Optional<Duration> budget) {
        public Length {
            if (epochs < 1) {
                throw new IllegalArgumentException("expected at least 1 epoch, found " + epochs);
            }
        }
    }

    public DistillOptions {
        require("batch size", batch, batch >= 2, "of at least 2");
        require("number of steps for each crop", reuse, reuse >= 1 && reuse <= 100, "from 1 to 100");
        require("image size", imageSize, imageSize >= 16 && imageSize <= 1024, "from 16 to 1024");
        require("image size of the teachers", teacherSize, teacherSize >= 16 && teacherSize <= 1024, "from 16 to 1024");
        require("learning rate", learningRate, learningRate > 0, "above 0");
        require("weight decay", weightDecay, weightDecay >= 0, "of at least 0");
        require("warm-up", warmup, warmup >= 0 && warmup < 1, "from 0 to below 1");
        require("decay of averaged weights", ema, ema >= 0 && ema < 1, "from 0 to below 1");
        require("largest gradient norm", clip, clip >= 0, "of at least 0");
        require("mixup", mixup, mixup >= 0, "of at least 0");
        require("number of epochs between probes", probeEvery, probeEvery >= 1, "of at least 1");
    }

    private static void require(String what, double value, boolean fits, String range) {
        if (!fits || Double.isInfinite(value) || Double.isNaN(value)) {
            String found = value == Math.rint(value) && Math.abs(value) < 1e9
                    ? Long.toString((long) value)
                    : Double.toString(value);
            throw new IllegalArgumentException("expected a " + what + " " + range + ", found " + found);
        }
    }

    /** Returns the side at which crops are rendered, the larger of both. */
    int renderSize() {
        return Math.max(imageSize, teacherSize);
    }

    /**
     * Returns the learning rate: linear warm-up, then {@code (1 + cos(π·x))/2} over the rest.
     *
     * @param position share of training that is done, from 0 to 1
     */
    double learningRate(double position) {
        if (position < warmup) {
            return learningRate * Math.max(0.01, position / warmup);
        }
        double decayed = Math.min(1, (position - warmup) / (1 - warmup));
        return learningRate * (1 + StrictMath.cos(Math.PI * decayed)) / 2;
    }
}
