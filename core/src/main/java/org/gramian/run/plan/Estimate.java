package org.gramian.run.plan;

import java.time.Duration;
import org.gramian.train.recipe.Recipe;

/**
 * How long a run may take, guessed from the pace of a few batches; schedules often end stages earlier.
 *
 * @param features computing features, once for all folds
 * @param stage1 of all folds, if every epoch is used; of a classifier that is solved for, its descriptors alone
 * @param stage2 of all folds, if every epoch is used
 * @param ending test, gallery and report of one fold, which follow its training
 */
public record Estimate(Duration features, Duration stage1, Duration stage2, Duration ending) {
    /** Forward and backward take about three times as long as forward alone. */
    private static final int BACKWARD = 3;

    /** Writing the files of a run and its report, with charts and thumbnails of a few dozen images: 3 s on two cores. */
    private static final double REPORT = 3;

    /** A pace from one small batch errs; a run that ends late breaks its promise, one that ends early trains a little less. */
    private static final double MARGIN = 1.5;

    /** Without an ending. */
    public Estimate(Duration features, Duration stage1, Duration stage2) {
        this(features, stage1, stage2, Duration.ZERO);
    }

    /**
     * The guess for a workload.
     *
     * @param threads that decode images at a time
     */
    public static Estimate of(Workload work, Pace pace, int threads) {
        Recipe recipe = work.config().recipe();
        double first = 0;
        double second = 0;
        for (FoldSize fold : work.folds()) {
            long learned = (long) fold.training() * work.trainingCrops();
            long judged = (long) fold.heldBack() * work.testCrops();
            boolean decodedOnce = !recipe.augmenting().policy().isNone();
            // Without augmentation the order is shuffled, so each training crop is decoded by itself.
            long decoded = decodedOnce ? fold.heldBack() : learned + fold.heldBack();
            double updates = pace.update()
                    * Math.ceilDiv(
                            learned,
                            (long) recipe.batching().batch() * recipe.batching().accumulate());
            if (recipe.solver().isPresent()) {
                first += learned * pace.head();
            }
            first += recipe.stage1().epochs() * (learned * pace.head() + judged * pace.head() / BACKWARD + updates);
            second += recipe.stage2().epochs()
                    * (updates
                            + Math.max(
                                    learned * pace.all() + judged * pace.all() / BACKWARD,
                                    decoded * pace.decoding() / threads));
            if (decodedOnce && recipe.stage2().epochs() > 0) {
                second += fold.training() * pace.decoding() / threads;
            }
        }
        long crops = work.features();
        double extraction = Math.max(crops * pace.feature(), crops * pace.decoding() / work.trainingCrops() / threads);
        return new Estimate(seconds(extraction), seconds(first), seconds(second), seconds(ending(work, pace, threads)));
    }

    /**
     * The seconds of the largest fold: scores of test and validation images, then descriptors and thumbnails of all images.
     * Frozen features of training images are there already, those of a fine-tuned backbone are computed again.
     */
    private static double ending(Workload work, Pace pace, int threads) {
        Recipe recipe = work.config().recipe();
        double head = recipe.solver().isPresent() ? pace.head() : pace.head() / BACKWARD;
        double longest = 0;
        for (FoldSize fold : work.folds()) {
            long scored = (long) fold.test() + fold.heldBack();
            long shown = work.config().gallery() ? scored + fold.training() : 0;
            long described = recipe.stage2().epochs() > 0 ? scored + shown : fold.test();
            double computed = work.testCrops() * (described * pace.feature() + (scored + shown) * head);
            double decoded = (described + shown) * pace.decoding() / threads;
            longest = Math.max(longest, computed + decoded);
        }
        return MARGIN * longest + REPORT;
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(1000 * seconds));
    }

    /** All together. */
    public Duration total() {
        return features.plus(stage1).plus(stage2);
    }
}
