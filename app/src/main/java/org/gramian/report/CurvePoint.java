package org.gramian.report;

import java.util.Optional;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.recipe.ValidationScore;

/**
 * One epoch of training, as the curves show it.
 *
 * @param stage of the training, counted from 1
 * @param epoch within its stage, counted from 1
 * @param training over the images that are trained on
 * @param heldBack over held-back training images, where there are any
 * @param rate the learning rate of new layers
 */
public record CurvePoint(int stage, int epoch, Score training, Optional<Score> heldBack, double rate) {
    /**
     * How good the scores of images are.
     *
     * @param loss cross-entropy
     * @param accuracy share of right answers, 0 to 1
     */
    public record Score(double loss, double accuracy) {}

    public CurvePoint {
        if (stage < 1 || epoch < 1) {
            throw new IllegalArgumentException(
                    "expected stages and epochs numbered from 1, found stage " + stage + ", epoch " + epoch);
        }
    }

    /**
     * The point of an epoch as training reports it.
     *
     * @param heldBack whether its judgement is on held-back images
     */
    public static CurvePoint of(EpochDone done, boolean heldBack) {
        ValidationScore judgement = done.validation();
        return new CurvePoint(
                done.stage(),
                done.epoch() + 1,
                new Score(done.loss(), done.accuracy()),
                heldBack ? Optional.of(new Score(judgement.loss(), 1 - judgement.error())) : Optional.empty(),
                done.learningRate());
    }
}
