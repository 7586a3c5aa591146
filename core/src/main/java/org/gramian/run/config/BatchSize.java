package org.gramian.run.config;

/** How many crops make a batch: as many as in the paper, but fewer where the images would make hardly any batches. */
final class BatchSize {
    /** As in the paper. */
    static final int USUAL = 32;

    private static final int SMALL = 8;

    /** Ten batches in an epoch. */
    private static final int FEW_CROPS = 10 * USUAL;

    static final String RULE = USUAL + "; " + SMALL + " for fewer than " + FEW_CROPS + " crops; " + DefaultRecipe.BATCH
            + " in fine-tuning with adamw on " + DefaultRecipe.FEWEST_FOR_BATCH + "+ images";

    private BatchSize() {}

    static Settings choose(Settings settings, int images) {
        return crops(settings, images) < FEW_CROPS
                ? settings.orElse(Keys.BATCH, SMALL, "fewer than " + FEW_CROPS + " training crops")
                : settings.orElse(Keys.BATCH, USUAL, "as in the paper");
    }

    /** Crops of an epoch, roughly: whatever is held back or tests is counted too. */
    static long crops(Settings settings, int images) {
        return (long) images * settings.get(Keys.CROPS).training(0).count();
    }
}
