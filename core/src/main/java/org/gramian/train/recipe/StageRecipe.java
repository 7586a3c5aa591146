package org.gramian.train.recipe;

/**
 * How one of the two stages goes.
 *
 * @param epochs the most passes over the training crops; 0 leaves the stage out
 * @param rate learning rate of the new layers; with {@code autoRate} the one that is usual here
 * @param autoRate whether a range test finds the learning rate, see {@link org.gramian.train.loop.LearningRateFinder}
 * @param backboneRate factor on that rate for the backbone; has no meaning in stage 1, where the backbone is frozen
 * @param schedule how the rate falls
 * @param warmup epochs in which the rate rises from 0, linearly; 0 for none, parts allowed
 * @param layerDecay factor on the backbone's learning rate for each stage of the network between a parameter and the cut, so that
 *     early layers move less; 1 for none, no meaning in stage 1
 * @param perLength whether the classifier's rate is divided by the squared length of the first descriptors about their mean: its
 *     gradient is as long as they are, and so is what its step changes in the scores; layers before it then take a hundredth
 */
public record StageRecipe(
        int epochs,
        double rate,
        boolean autoRate,
        double backboneRate,
        Schedule schedule,
        double warmup,
        double layerDecay,
        boolean perLength) {
    /** Without layer-wise decay. */
    public StageRecipe(
            int epochs, double rate, double backboneRate, Schedule schedule, double warmup, boolean perLength) {
        this(epochs, rate, false, backboneRate, schedule, warmup, 1, perLength);
    }

    /** With the rate as it is. */
    public StageRecipe(int epochs, double rate, double backboneRate, Schedule schedule, double warmup) {
        this(epochs, rate, backboneRate, schedule, warmup, false);
    }

    public StageRecipe {
        if (epochs < 0) {
            throw new IllegalArgumentException("a stage has at least 0 epochs, found " + epochs);
        }
        require("the learning rate", rate);
        require("the backbone's factor", backboneRate);
        require("the backbone's learning rate", rate * backboneRate);
        require("the warm-up", warmup);
        if (!(layerDecay > 0 && layerDecay <= 1)) {
            throw new IllegalArgumentException(
                    "the layer decay must be a number above 0 and at most 1, found " + layerDecay);
        }
    }

    /** Returns the same stage with another number of epochs. */
    StageRecipe withEpochs(int other) {
        return new StageRecipe(other, rate, autoRate, backboneRate, schedule, warmup, layerDecay, perLength);
    }

    /** Returns the same stage with a learning rate that a range test finds. */
    public StageRecipe withAutoRate() {
        return new StageRecipe(epochs, rate, true, backboneRate, schedule, warmup, layerDecay, perLength);
    }

    private static void require(String what, double value) {
        // Tensors hold it in single precision, where more than that is infinite.
        if (!(value >= 0 && value <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    what + " must be a number from 0 to " + Float.MAX_VALUE + ", found " + value);
        }
    }
}
