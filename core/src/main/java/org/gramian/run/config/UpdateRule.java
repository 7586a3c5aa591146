package org.gramian.run.config;

import org.gramian.train.AdamWOptions;
import org.gramian.train.OptimizerOptions;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;

/** The optimizer that a run uses, and the defaults that follow from it. */
public enum UpdateRule {
    /** Stochastic gradient descent with momentum. */
    SGD,
    /** Adam with decoupled weight decay. */
    ADAMW;

    private static final SgdOptions SGD_DEFAULTS = SgdOptions.defaults(0);
    private static final AdamWOptions ADAMW_DEFAULTS = AdamWOptions.defaults(0);

    /**
     * Learning rate of AdamW in both stages: about the change of a weight in each step, for any scale of descriptors and loss.
     */
    static final double ADAMW_RATE = 2e-3;

    /** Factor on it for the backbone: 2e-4, a usual rate for fine-tuning. */
    static final double ADAMW_BACKBONE_RATE = 0.1;

    private static final double SGD_STAGE2_RATE = 0.001;

    static final String WEIGHT_DECAY_RULE = "0.0005, or 0.02 with adamw";
    static final String MULTIPLIER_RULE = "0.001, or 10 with adamw";
    static final String STAGE2_RATE_RULE = "0.001, or 0.002 with adamw";

    static boolean isAdamW(Settings settings) {
        return settings.find(Keys.OPTIMIZER).filter(ADAMW::equals).isPresent();
    }

    static Settings choose(Settings settings) {
        boolean adamW = isAdamW(settings);
        return settings.orElse(
                        Keys.WEIGHT_DECAY,
                        adamW ? ADAMW_DEFAULTS.weightDecay() : SGD_DEFAULTS.weightDecay(),
                        adamW
                                ? "AdamW multiplies weight decay by its small learning rate"
                                : "the default weight decay of SGD")
                .orElse(
                        Keys.MULTIPLIER,
                        adamW
                                ? ADAMW_DEFAULTS.stiefel().multiplier()
                                : SGD_DEFAULTS.stiefel().multiplier(),
                        adamW
                                ? "AdamW's step on the Stiefel manifold has the length learning rate times multiplier"
                                : "gradients of Stiefel matrices are about 1000 times larger than others")
                .orElse(
                        Keys.STAGE2_RATE,
                        adamW ? ADAMW_RATE : SGD_STAGE2_RATE,
                        adamW ? "usual for AdamW" : "as in the paper");
    }

    /** Returns the constants of the rule in settings that have a value for every key. */
    static OptimizerOptions options(Settings all) {
        StiefelOptions stiefel = new StiefelOptions(
                all.get(Keys.MULTIPLIER), all.get(Keys.METRIC), all.get(Keys.RETRACTION), all.get(Keys.CONSTANT_RATE));
        double rate = all.get(Keys.STAGE1_RATE);
        double decay = all.get(Keys.WEIGHT_DECAY);
        return switch (all.get(Keys.OPTIMIZER)) {
            case SGD -> new SgdOptions(rate, all.get(Keys.MOMENTUM), decay, stiefel);
            case ADAMW -> new AdamWOptions(rate, all.get(Keys.BETA1), all.get(Keys.BETA2), decay, stiefel);
        };
    }
}
