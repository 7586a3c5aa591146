package org.gramian.cli.train;

import org.gramian.train.distill.DistillOptions;
import picocli.CommandLine.Option;

/** Losses of {@code gramian distill}. */
final class LossOptions {
    /** How feature maps are compared. */
    enum FeatureLoss {
        SMOOTH_L1,
        SQUARED
    }

    /** How Gram matrices are compared. */
    enum GramLoss {
        DISTANCE,
        COSINE
    }

    @Option(
            names = "--feature-weight",
            paramLabel = "W",
            defaultValue = "1",
            description = "weight of feature matching; 0: off (default: ${DEFAULT-VALUE})")
    private double featureWeight;

    @Option(
            names = "--gram-weight",
            paramLabel = "W",
            defaultValue = "0.5",
            description = "weight of Gram matrix matching; 0: off (default: ${DEFAULT-VALUE})")
    private double gramWeight;

    @Option(
            names = "--logit-weight",
            paramLabel = "W",
            defaultValue = "0.25",
            description = "weight of class score matching; 0: off (default: ${DEFAULT-VALUE})")
    private double logitWeight;

    @Option(
            names = "--temperature",
            paramLabel = "T",
            defaultValue = "2",
            description = "temperature of class scores (default: ${DEFAULT-VALUE})")
    private double temperature;

    @Option(
            names = "--feature-loss",
            paramLabel = "LOSS",
            defaultValue = "smooth_l1",
            description = "comparison of feature maps: smooth_l1 or squared (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private FeatureLoss featureLoss;

    @Option(
            names = "--gram-loss",
            paramLabel = "LOSS",
            defaultValue = "cosine",
            description = "comparison of Gram matrices: cosine or distance (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private GramLoss gramLoss;

    DistillOptions.Losses weights() {
        return new DistillOptions.Losses(
                featureWeight,
                gramWeight,
                logitWeight,
                temperature,
                featureLoss == FeatureLoss.SQUARED,
                gramLoss == GramLoss.COSINE);
    }
}
