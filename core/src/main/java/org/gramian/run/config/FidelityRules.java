package org.gramian.run.config;

import java.util.Optional;
import org.gramian.image.crop.CropPlan;
import org.gramian.pooling.Fidelity;
import org.gramian.train.StiefelOptions;

/** Settings of the recipe that each fidelity implies. */
final class FidelityRules {
    private static final CropPlan CROPS = CropPlan.parse("paper");
    private static final String POOLING = "paper";

    /** Learning rate of all layers in the authors' solver files. */
    private static final double AUTHORS_RATE = 1e-5;

    /** Upper bound: the authors' number of iterations depends on the dataset. */
    private static final int AUTHORS_EPOCHS = 30;

    private FidelityRules() {}

    /**
     * Returns the settings that a fidelity implies.
     *
     * @param trainable whether the backbone has trainable parameters; otherwise there is no fine-tuning
     */
    static Settings of(Fidelity fidelity, boolean trainable) {
        return switch (fidelity) {
            case CORRECTED -> Settings.NONE;
            case PAPER -> paper();
            case AUTHORS -> authors(trainable);
        };
    }

    private static Settings paper() {
        String why = "as in the paper";
        return common(Fidelity.PAPER, why)
                .orElse(Keys.STAGE1_RATE, 0.1, why)
                .orElse(Keys.STAGE1_SCHEDULE, StageLength.MANY_STEPS, why)
                .orElse(Keys.BATCH, StageLength.BATCH, why)
                .orElse(Keys.STAGE2_RATE, 0.001, why);
    }

    private static Settings authors(boolean trainable) {
        String why = "as in the authors' code";
        Settings settings = common(Fidelity.AUTHORS, why)
                .orElse(Keys.LOGIT_NORM, true, why)
                .orElse(Keys.STAGE1_RATE, AUTHORS_RATE, why)
                .orElse(Keys.STAGE2_RATE, AUTHORS_RATE, why)
                .orElse(Keys.BACKBONE_RATE, 1.0, why)
                .orElse(Keys.STAGE2_WARMUP, 0.0, why)
                .orElse(Keys.BATCH, 16, why)
                .orElse(Keys.WEIGHT_DECAY, 5e-6, why);
        String together = why + ", which trains all layers together";
        return trainable
                ? settings.orElse(Keys.STAGE1_EPOCHS, 0, together).orElse(Keys.STAGE2_EPOCHS, AUTHORS_EPOCHS, together)
                : settings;
    }

    private static Settings common(Fidelity fidelity, String why) {
        StiefelOptions stiefel = StiefelOptions.of(fidelity);
        return Settings.NONE
                .orElse(Keys.CROPS, CROPS, why)
                .orElse(Keys.NEAR_DUPLICATES, false, why)
                .orElse(Keys.POOLING, POOLING, why)
                .orElse(Keys.OPTIMIZER, UpdateRule.SGD, why)
                .orElse(Keys.STAGE1_REFIT, Optional.empty(), why)
                .orElse(Keys.MULTIPLIER, stiefel.multiplier(), why)
                .orElse(Keys.METRIC, stiefel.metric(), why)
                .orElse(Keys.RETRACTION, stiefel.retraction(), why)
                .orElse(Keys.CONSTANT_RATE, stiefel.constantRate(), why);
    }
}
