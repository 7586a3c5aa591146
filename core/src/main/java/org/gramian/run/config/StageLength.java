package org.gramian.run.config;

import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.Schedule.Plateau;

/**
 * How long stage 1 may go on, and how its rate falls: counted in steps, for an epoch of thirty images is four of them and
 * one of a million is thirty thousand.
 *
 * @param steps in an epoch, roughly: whatever is held back or tests is counted too
 */
record StageLength(long steps) {
    /** A bound where there are many images: the reference figures took 9 epochs, and the schedule ends the stage before. */
    private static final int EPOCHS = 15;

    private static final int MOST_EPOCHS = 60;

    /** What few images get at least; reached by 15 epochs of 80 images in batches of 8. */
    private static final int STEPS = 150;

    /** Epochs of fewer steps than this tell too little one by one for a plateau to be seen. */
    private static final int TELLING_STEPS = 25;

    private static final Schedule FEW_STEPS = new Schedule.Cosine();

    /** As in the paper. */
    static final Schedule MANY_STEPS = new Plateau(Plateau.PATIENCE, Plateau.DROPS);

    static final String EPOCHS_RULE =
            EPOCHS + "; up to " + MOST_EPOCHS + " if " + EPOCHS + " epochs have fewer than " + STEPS + " steps";
    static final String SCHEDULE_RULE =
            MANY_STEPS.text() + "; " + FEW_STEPS.text() + " if an epoch has fewer than " + TELLING_STEPS + " steps";

    static final String EXTEND_RULE = "true if epochs are unset and the schedule is plateau or constant";

    static StageLength of(Settings settings, int images) {
        long batch = (long) settings.get(Keys.BATCH) * settings.get(Keys.ACCUMULATE);
        return new StageLength(Math.max(1, Math.ceilDiv(BatchSize.crops(settings, images), batch)));
    }

    int epochs() {
        return Math.clamp(Math.ceilDiv(STEPS, steps), EPOCHS, MOST_EPOCHS);
    }

    /** The rate must fall before the end, whether or not a few images can tell when; the best judged epoch is kept anyway. */
    Schedule schedule() {
        return steps < TELLING_STEPS ? FEW_STEPS : MANY_STEPS;
    }

    /** Whether stages go on while the loss still falls, once epochs and schedules are chosen. */
    static Settings extend(Settings settings) {
        return extend(
                extend(settings, Keys.STAGE1_EXTEND, Keys.STAGE1_EPOCHS, Keys.STAGE1_SCHEDULE),
                Keys.STAGE2_EXTEND,
                Keys.STAGE2_EPOCHS,
                Keys.STAGE2_SCHEDULE);
    }

    private static Settings extend(Settings settings, Key<Boolean> key, Key<Integer> epochs, Key<Schedule> schedule) {
        if (settings.get(epochs) == 0) {
            return settings.orElse(key, false, "the stage has 0 epochs");
        }
        if (settings.isWanted(epochs)) {
            return settings.orElse(key, false, "the number of epochs is set");
        }
        return settings.get(schedule).hasFixedLength()
                ? settings.orElse(key, false, "the schedule depends on the number of epochs")
                : settings.orElse(key, true, "the number of epochs is not set");
    }

    String reason() {
        return "an epoch has about " + steps + (steps == 1 ? " step" : " steps");
    }
}
