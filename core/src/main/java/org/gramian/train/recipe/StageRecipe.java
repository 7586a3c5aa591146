package org.gramian.train.recipe;

/**
 * Recipe of one of the two stages.
 *
 * @param backboneRate factor on that rate for the backbone; has no meaning in stage 1, where the backbone is frozen
 * @param warmup epochs of linear warm-up from 0, fractions allowed; 0 for none
 * @param perLength whether the classifier's rate is divided by the mean squared norm of the centred initial descriptors; layers before it then take a hundredth of the rate
 */
public record StageRecipe(
        int epochs, double rate, double backboneRate, Schedule schedule, double warmup, boolean perLength) {
    public StageRecipe {
        require("the learning rate", rate);
        require("the factor of the backbone's learning rate", backboneRate);
        require("the backbone's learning rate", rate * backboneRate);
        require("the warm-up", warmup);
    }

    StageRecipe withEpochs(int other) {
        return new StageRecipe(other, rate, backboneRate, schedule, warmup, perLength);
    }

    private static void require(String what, double value) {
        // infinite in float32 otherwise
        if (!(value >= 0 && value <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException(
                    what + " must be a number from 0 to " + Float.MAX_VALUE + ", found " + value);
        }
    }
}
