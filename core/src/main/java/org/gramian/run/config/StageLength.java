package org.gramian.run.config;

import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.Schedule.Plateau;

/**
 * Chooses batch size, epochs and schedule of stage 1 by the number of training steps.
 *
 * @param steps of an epoch, roughly: images of the validation and the test set count as well
 */
record StageLength(long steps) {
    /** Default batch size, as in the paper. */
    static final int BATCH = 32;

    private static final int SMALL_BATCH = 8;
    private static final int FEW_CROPS = 10 * BATCH;

    /** Upper bound for many images: the schedule stops earlier. */
    private static final int EPOCHS = 15;

    private static final int MOST_EPOCHS = 60;
    private static final int LEAST_STEPS = 150;

    /** Validation after epochs of fewer steps is too noisy for a plateau schedule. */
    private static final int PLATEAU_STEPS = 25;

    private static final Schedule FEW_STEPS = new Schedule.Cosine();

    /** As in the paper. */
    static final Schedule MANY_STEPS = new Plateau(Plateau.PATIENCE, Plateau.DROPS);

    static final String BATCH_RULE = BATCH + "; " + SMALL_BATCH + " for fewer than " + FEW_CROPS + " crops; "
            + DefaultRecipe.BATCH + " in fine-tuning with adamw on " + DefaultRecipe.FEWEST_FOR_BATCH + "+ images";
    static final String EPOCHS_RULE =
            EPOCHS + "; up to " + MOST_EPOCHS + " if " + EPOCHS + " epochs have fewer than " + LEAST_STEPS + " steps";
    static final String SCHEDULE_RULE =
            MANY_STEPS.text() + "; " + FEW_STEPS.text() + " if an epoch has fewer than " + PLATEAU_STEPS + " steps";

    /** Fills an unset batch size. */
    static Settings batch(Settings settings, int images) {
        return crops(settings, images) < FEW_CROPS
                ? settings.orElse(Keys.BATCH, SMALL_BATCH, "fewer than " + FEW_CROPS + " training crops")
                : settings.orElse(Keys.BATCH, BATCH, "as in the paper");
    }

    /** Returns the crops of an epoch, roughly. */
    static long crops(Settings settings, int images) {
        return (long) images * settings.get(Keys.CROPS).training(0).count();
    }

    static StageLength of(Settings settings, int images) {
        long batch = (long) settings.get(Keys.BATCH) * settings.get(Keys.ACCUMULATE);
        return new StageLength(Math.max(1, Math.ceilDiv(crops(settings, images), batch)));
    }

    int epochs() {
        return Math.clamp(Math.ceilDiv(LEAST_STEPS, steps), EPOCHS, MOST_EPOCHS);
    }

    Schedule schedule() {
        return steps < PLATEAU_STEPS ? FEW_STEPS : MANY_STEPS;
    }

    String reason() {
        return "an epoch has about " + steps + (steps == 1 ? " step" : " steps");
    }
}
