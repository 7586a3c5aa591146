package org.gramian.train.recipe;

/**
 * Recipe of one of the two stages.
 *
 * @param epochs at most; 0 leaves the stage out
 * @param rate learning rate of the new layers
 * @param backboneRate factor on that rate for the backbone; has no meaning in stage 1, where the backbone is frozen
 * @param warmup epochs of linear warm-up from 0, fractions allowed; 0 for none
 * @param layerDecay factor on the backbone's learning rate for each stage of the network between a parameter and the cut, so that
 *     early layers move less; 1 for none, no meaning in stage 1
 * @param perLength whether the classifier's rate is divided by the mean squared norm of the centred initial descriptors; layers before it then take a hundredth of the rate
 */
public record StageRecipe(
        int epochs,
        double rate,
        double backboneRate,
        Schedule schedule,
        double warmup,
        double layerDecay,
        boolean perLength) {
    public StageRecipe(int epochs, double rate, double backboneRate, Schedule schedule, double warmup) {
        this(epochs, rate, backboneRate, schedule, warmup, 1, false);
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

    StageRecipe withEpochs(int other) {
        return new StageRecipe(other, rate, backboneRate, schedule, warmup, layerDecay, perLength);
    }

    private static void require(String what, double value) {
        // infinite in float32 otherwise
        if (!(value >= 0 && value <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    what + " must be a number from 0 to " + Float.MAX_VALUE + ", found " + value);
        }
    }
}
