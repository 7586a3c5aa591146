package org.gramian.run.plan;

import java.time.Duration;
import org.gramian.run.plan.Probe.Pace;
import org.gramian.train.recipe.Recipe;

/**
 * Estimated duration of a run, from the times of a few batches; schedules often stop earlier.
 *
 * @param features computing features, once for all folds
 * @param stage1 of all folds with all epochs; with a solver, its descriptors alone
 * @param stage2 of all folds with all epochs
 * @param ending evaluation, gallery and report of one fold
 */
public record Estimate(Duration features, Duration stage1, Duration stage2, Duration ending) {
    /** Forward and backward pass by forward pass alone. */
    private static final int BACKWARD = 3;

    /** Seconds for the files of a run and its report, on two cores. */
    private static final double REPORT = 3;

    /** Safety margin: a time budget must not be exceeded. */
    private static final double MARGIN = 1.5;

    /** Creates an estimate without evaluation. */
    public Estimate(Duration features, Duration stage1, Duration stage2) {
        this(features, stage1, stage2, Duration.ZERO);
    }

    /**
     * Estimates the duration of a workload.
     *
     * @param threads decoding threads
     */
    public static Estimate of(Workload work, Pace pace, int threads) {
        Recipe recipe = work.config().recipe();
        double first = 0;
        double second = 0;
        for (Workload.Fold fold : work.folds()) {
            long trained = (long) fold.training() * work.trainingCrops();
            long validated = (long) fold.validation() * work.testCrops();
            boolean decodedOnce = !recipe.augmenting().policy().isNone();
            // without augmentation each crop of the shuffled order is decoded separately
            long decoded = decodedOnce ? fold.validation() : trained + fold.validation();
            double updates = pace.update()
                    * Math.ceilDiv(
                            trained,
                            (long) recipe.batching().batch() * recipe.batching().accumulate());
            if (recipe.solver().isPresent()) {
                first += trained * pace.head();
            }
            first += recipe.stage1().epochs() * (trained * pace.head() + validated * pace.head() / BACKWARD + updates);
            second += recipe.stage2().epochs()
                    * (updates
                            + Math.max(
                                    trained * pace.all() + validated * pace.all() / BACKWARD,
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
     * Returns the seconds of the largest fold: scores of test and validation set, descriptors and thumbnails of all images. Frozen features of training images are cached, those of a fine-tuned backbone are not.
     */
    private static double ending(Workload work, Pace pace, int threads) {
        Recipe recipe = work.config().recipe();
        double head = recipe.solver().isPresent() ? pace.head() : pace.head() / BACKWARD;
        double longest = 0;
        for (Workload.Fold fold : work.folds()) {
            long scored = (long) fold.test() + fold.validation();
            long shown = work.config().options().gallery() ? scored + fold.training() : 0;
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

    /** Returns the sum without the ending. */
    public Duration total() {
        return features.plus(stage1).plus(stage2);
    }
}
