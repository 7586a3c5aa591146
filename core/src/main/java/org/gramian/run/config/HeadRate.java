package org.gramian.run.config;

import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Join;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Normalization.Pca;
import org.gramian.pooling.Pooling;

/**
 * Chooses the learning rate of the head, which depends on the norm of the descriptors and so on the pooling.
 *
 * <p>Descriptors of norm 1 need the rate {@value #DEFAULT} (reference results on FMD); matrices on the Stiefel manifold use a
 * thousandth of it, see {@link org.gramian.train.StiefelOptions}. The squared norm of other descriptors is 1,000 to 300,000 on
 * the backbones here, and the classifier's rate is divided by the mean squared norm about the mean ({@link Keys#PER_LENGTH},
 * measured in docs/adr/0011). Codewords that are trained with the classifier lose their k-means values at rate 1 (the loss of
 * NetVLAD rises for epochs) and use {@value #WORDS}.
 */
final class HeadRate {
    static final double DEFAULT = 1;
    static final double WORDS = 0.1;
    static final String RULE = "1, or 0.1 if the pooling trains codewords; 0.002 with adamw";
    static final String PER_LENGTH_RULE = "true with sgd if stage1.rate is unset and pooling has no final l2";

    private HeadRate() {}

    static Settings choose(Settings settings, Pooling pooling) {
        boolean given = settings.has(Keys.STAGE1_RATE);
        if (UpdateRule.isAdamW(settings)) {
            String reason = "AdamW normalizes gradients, so the scale of descriptors does not matter";
            return settings.orElse(Keys.PER_LENGTH, false, reason)
                    .orElse(Keys.STAGE1_RATE, UpdateRule.ADAMW_RATE, reason);
        }
        boolean normalized = isNormalized(pooling);
        String length = normalized ? "descriptors have unit norm" : "descriptors do not have unit norm";
        boolean words = trainsWords(pooling.aggregation());
        return settings.orElse(Keys.PER_LENGTH, !given && !normalized, given ? "the learning rate is set" : length)
                .orElse(
                        Keys.STAGE1_RATE,
                        words ? WORDS : DEFAULT,
                        words ? "codewords of the pooling diverge at a larger learning rate" : length);
    }

    /**
     * Returns whether descriptors have norm 1. Behind {@code l2/scale} their norm is the scale, initially 30, so that the
     * classifier's rate depends on it.
     */
    static boolean isNormalized(Pooling pooling) {
        return pooling.normalizations().reversed().stream()
                .filter(normalization -> !(normalization instanceof Pca)) // which keeps lengths at most
                .findFirst()
                .filter(Normalization.L2.class::isInstance)
                .isPresent();
    }

    private static boolean trainsWords(Aggregation aggregation) {
        return switch (aggregation) {
            case NetVlad _, DeepTen _ -> true;
            case Join join -> join.branches().stream().anyMatch(branch -> trainsWords(branch.aggregation()));
            default -> false;
        };
    }
}
