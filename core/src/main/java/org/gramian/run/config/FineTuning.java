package org.gramian.run.config;

import org.gramian.backbone.Backbone;
import org.gramian.tensor.Device;

/**
 * Choices of stage 2, in which all layers move: whether it is worth its time, and how gently the network is moved.
 */
final class FineTuning {
    /** A bound: the schedule ends the stage before. In the reference figures it added little, and that early. */
    private static final int EPOCHS = 10;

    /** The network that lost everything at the full rate: 10 % on Flickr's materials, which is chance. */
    private static final String DELICATE = "efficientnet-lite4";

    private static final double DELICATE_RATE = 0.1;
    private static final double DELICATE_WARMUP = 1;

    static final String EPOCHS_RULE = EPOCHS + " on a GPU; 0 on the processor, and for a network that is not trained";
    static final String RATE_RULE =
            "1; " + DELICATE_RATE + " for " + DELICATE + "; " + UpdateRule.ADAMW_BACKBONE_RATE + " under adamw";
    static final String WARMUP_RULE = "0; " + (int) DELICATE_WARMUP + " for " + DELICATE;

    private FineTuning() {}

    static Settings choose(Settings asked, Backbone backbone, Device.Kind device) {
        Settings settings = asked;
        if (backbone.parameterCount() == 0) {
            settings = settings.orElse(Keys.STAGE2_EPOCHS, 0, backbone.name() + " has nothing to be trained");
        }
        if (UpdateRule.isAdamW(settings)) {
            settings = settings.orElse(
                    Keys.BACKBONE_RATE,
                    UpdateRule.ADAMW_BACKBONE_RATE,
                    "pretrained weights move by a tenth of new ones under AdamW");
        }
        boolean gpu = device == Device.Kind.CUDA;
        boolean delicate = backbone.name().equals(DELICATE);
        String gently = "the full rate destroyed " + DELICATE + " in our reference figures";
        String plainly = "as in the paper";
        return settings.orElse(
                        Keys.STAGE2_EPOCHS,
                        gpu ? EPOCHS : 0,
                        gpu
                                ? "there is a GPU"
                                : "left out on the processor, where it would take hours; ask by --fine-tune N")
                .orElse(Keys.BACKBONE_RATE, delicate ? DELICATE_RATE : 1, delicate ? gently : plainly)
                .orElse(Keys.STAGE2_WARMUP, delicate ? DELICATE_WARMUP : 0, delicate ? gently : plainly);
    }
}
