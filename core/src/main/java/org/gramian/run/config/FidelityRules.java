package org.gramian.run.config;

import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.image.crop.CropPlan;
import org.gramian.pooling.Fidelity;
import org.gramian.train.StiefelOptions;

/** What each fidelity asks of the recipe; what it asks of the mathematics itself is the business of other packages. */
final class FidelityRules {
    private static final CropPlan CROPS = CropPlan.parse("paper");
    private static final String POOLING = "paper";

    /** The rate of all layers in the authors' solver files. */
    private static final OptionalDouble AUTHORS_RATE = OptionalDouble.of(1e-5);

    /** Theirs is a number of iterations that depends on the dataset; this is a bound, before which the schedule ends it. */
    private static final int AUTHORS_EPOCHS = 30;

    private FidelityRules() {}

    /**
     * Values for the keys that a fidelity cares for.
     *
     * @param trainable whether the network has anything to be trained; without it stage 1 is all there is
     */
    static Settings of(Fidelity fidelity, boolean trainable) {
        return switch (fidelity) {
            case CORRECTED -> Settings.NONE;
            case PAPER -> paper("as in the paper");
            case AUTHORS -> {
                String why = "as in the authors' code";
                yield trainable ? atOnce(authors(why), why + ", which trains all layers together") : authors(why);
            }
        };
    }

    private static Settings paper(String why) {
        return Settings.NONE
                .orElse(Keys.CROPS, CROPS, why)
                .orElse(Keys.NEAR_DUPLICATES, false, why)
                .orElse(Keys.POOLING, POOLING, why)
                .orElse(Keys.OPTIMIZER, UpdateRule.SGD, why)
                .orElse(Keys.STAGE1_RATE, OptionalDouble.of(0.1), why)
                .orElse(Keys.STAGE1_SCHEDULE, StageLength.MANY_STEPS, why)
                .orElse(Keys.BATCH, BatchSize.USUAL, why)
                .orElse(Keys.STAGE2_RATE, OptionalDouble.of(0.001), why)
                .orElse(Keys.STAGE1_EXTEND, false, why)
                .orElse(Keys.STAGE1_REFIT, Optional.empty(), why)
                .orElse(Keys.STAGE2_EXTEND, false, why)
                .over(stiefel(Fidelity.PAPER, why));
    }

    private static Settings authors(String why) {
        return Settings.NONE
                .orElse(Keys.CROPS, CROPS, why)
                .orElse(Keys.NEAR_DUPLICATES, false, why)
                .orElse(Keys.POOLING, POOLING, why)
                .orElse(Keys.LOGIT_NORM, true, why)
                .orElse(Keys.OPTIMIZER, UpdateRule.SGD, why)
                .orElse(Keys.STAGE1_RATE, AUTHORS_RATE, why)
                .orElse(Keys.STAGE2_RATE, AUTHORS_RATE, why)
                .orElse(Keys.BACKBONE_RATE, 1.0, why)
                .orElse(Keys.STAGE2_WARMUP, 0.0, why)
                .orElse(Keys.BATCH, 16, why)
                .orElse(Keys.WEIGHT_DECAY, 5e-6, why)
                .orElse(Keys.STAGE1_EXTEND, false, why)
                .orElse(Keys.STAGE1_REFIT, Optional.empty(), why)
                .orElse(Keys.STAGE2_EXTEND, false, why)
                .over(stiefel(Fidelity.AUTHORS, why));
    }

    private static Settings atOnce(Settings settings, String why) {
        return settings.orElse(Keys.STAGE1_EPOCHS, 0, why).orElse(Keys.STAGE2_EPOCHS, AUTHORS_EPOCHS, why);
    }

    private static Settings stiefel(Fidelity fidelity, String why) {
        StiefelOptions stiefel = StiefelOptions.of(fidelity);
        return Settings.NONE
                .orElse(Keys.MULTIPLIER, stiefel.multiplier(), why)
                .orElse(Keys.METRIC, stiefel.metric(), why)
                .orElse(Keys.RETRACTION, stiefel.retraction(), why)
                .orElse(Keys.CONSTANT_RATE, stiefel.constantRate(), why);
    }
}
