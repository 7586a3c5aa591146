package org.gramian.train.recipe;

import java.util.List;

/**
 * Recipe of one of the two stages.
 *
 * @param epochs at most, unless it extends; 0 leaves the stage out
 * @param rate learning rate of the new layers; with {@code autoRate} the default
 * @param autoRate whether a range test finds the learning rate, see {@link org.gramian.train.loop.LearningRateFinder}
 * @param backboneRate factor on that rate for the backbone; has no meaning in stage 1, where the backbone is frozen
 * @param schedule of the learning rate
 * @param warmup epochs of linear warm-up from 0, fractions allowed; 0 for none
 * @param layerDecay factor on the backbone's learning rate for each stage of the network between a parameter and the cut, so that
 *     early layers move less; 1 for none, no meaning in stage 1
 * @param perLength whether the classifier's rate is divided by the mean squared norm of the centred initial descriptors; layers before it then take a hundredth of the rate
 * @param extend whether it goes on past its epochs while the loss still falls, see {@link #epochs(List)}; has no
 *     effect with a schedule of fixed length
 */
public record StageRecipe(
        int epochs,
        double rate,
        boolean autoRate,
        double backboneRate,
        Schedule schedule,
        double warmup,
        double layerDecay,
        boolean perLength,
        boolean extend) {
    /** A stage is extended by a quarter of its epochs at a time. */
    private static final int PORTIONS = 4;

    /** A stage has at most so many times its epochs. */
    private static final int LONGEST = 2;

    /** Creates a stage without layer-wise decay and extension. */
    public StageRecipe(
            int epochs, double rate, double backboneRate, Schedule schedule, double warmup, boolean perLength) {
        this(epochs, rate, false, backboneRate, schedule, warmup, 1, perLength, false);
    }

    /** Creates a stage without division by the descriptor norm. */
    public StageRecipe(int epochs, double rate, double backboneRate, Schedule schedule, double warmup) {
        this(epochs, rate, backboneRate, schedule, warmup, false);
    }

    public StageRecipe {
        if (epochs < 0) {
            throw new IllegalArgumentException("expected at least 0 epochs, found " + epochs);
        }
        require("the learning rate", rate);
        require("the factor of the backbone's learning rate", backboneRate);
        require("the backbone's learning rate", rate * backboneRate);
        require("the warm-up", warmup);
        if (!(layerDecay > 0 && layerDecay <= 1)) {
            throw new IllegalArgumentException(
                    "the layer decay must be a number above 0 and at most 1, found " + layerDecay);
        }
    }

    /** Returns the same stage with another number of epochs. */
    StageRecipe withEpochs(int other) {
        return new StageRecipe(other, rate, autoRate, backboneRate, schedule, warmup, layerDecay, perLength, extend);
    }

    /** Returns the same stage with a learning rate that a range test finds. */
    public StageRecipe withAutoRate() {
        return new StageRecipe(epochs, rate, true, backboneRate, schedule, warmup, layerDecay, perLength, extend);
    }

    /** Whether the stage may take more than its epochs. */
    public boolean mayExtend() {
        return extend && epochs > 0 && !schedule.hasFixedLength();
    }

    /**
     * Returns the epochs of the stage by what is known after some of them. A stage that extends goes on by a quarter of its epochs
     * whenever it comes to its end while the loss still falls ({@link Improvement#isRelevant}), up to twice its epochs. The number
     * follows from the past alone, so that a resumed stage has the same length.
     *
     * @param past validation score of each completed epoch
     */
    public int epochs(List<ValidationScore> past) {
        if (!mayExtend()) {
            return epochs;
        }
        int most = (int) Math.min(Integer.MAX_VALUE, (long) LONGEST * epochs);
        int end = epochs;
        while (end < most
                && past.size() >= end
                && Improvement.of(past.subList(0, end)).isRelevant()) {
            end = (int) Math.min(most, end + (long) Math.ceilDiv(epochs, PORTIONS));
        }
        return end;
    }

    private static void require(String what, double value) {
        // infinite in float32 otherwise
        if (!(value >= 0 && value <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    what + " must be a number from 0 to " + Float.MAX_VALUE + ", found " + value);
        }
    }
}
