package org.gramian.run.config;

import java.util.OptionalDouble;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.DeepTen;
import org.gramian.pooling.DescriptorPca;
import org.gramian.pooling.Join;
import org.gramian.pooling.NetVlad;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;

/**
 * The learning rate of new layers, which belongs to the pooling: it decides how long descriptors are.
 *
 * <p>Descriptors of length 1 want large steps of the classifier, {@value #USUAL}, as the reference figures on Flickr's
 * materials have it; the matrices on the Stiefel manifold then move at a thousandth of that, see {@link
 * org.gramian.train.StiefelOptions}. Others are longer, by their square between 1,000 and 300,000 times on the networks here, and
 * their rate is that divided by the mean square of their lengths about the mean ({@link Keys#PER_LENGTH}): docs/adr/0011 has what was measured.
 * Words that are trained together with the classifier lose what k-means gave them at 1 (the loss of NetVLAD rises for epochs)
 * and want {@value #WORDS}.
 */
final class HeadRate {
    static final double USUAL = 1;
    static final double WORDS = 0.1;
    static final String RULE = "1, or 0.1 if the pooling trains codewords; 0.002 with adamw";
    static final String PER_LENGTH_RULE = "true with sgd if stage1.rate is unset and pooling has no final l2";

    private HeadRate() {}

    static Settings choose(Settings settings, Pooling pooling) {
        boolean given = isGiven(settings);
        if (UpdateRule.isAdamW(settings)) {
            String reason = "AdamW normalizes gradients, so the scale of descriptors does not matter";
            return settings.orElse(Keys.PER_LENGTH, false, reason)
                    .orElse(Keys.STAGE1_RATE, OptionalDouble.of(UpdateRule.ADAMW_RATE), reason);
        }
        boolean normalized = isNormalized(pooling);
        String length = normalized ? "descriptors have unit norm" : "descriptors do not have unit norm";
        boolean words = trainsWords(pooling.aggregation());
        return settings.orElse(Keys.PER_LENGTH, !given && !normalized, given ? "the learning rate is set" : length)
                .orElse(
                        Keys.STAGE1_RATE,
                        OptionalDouble.of(words ? WORDS : USUAL),
                        words ? "codewords of the pooling diverge at a larger learning rate" : length);
    }

    /** Returns whether settings have the rate of stage 1 as a number. */
    static boolean isGiven(Settings settings) {
        return settings.find(Keys.STAGE1_RATE).filter(OptionalDouble::isPresent).isPresent();
    }

    /**
     * Whether descriptors have length 1. Behind {@code l2/scale} they have the length of the scale, 30 at first, so that the
     * classifier's rate follows from their length.
     */
    static boolean isNormalized(Pooling pooling) {
        return pooling.normalizations().reversed().stream()
                .filter(normalization -> !(normalization instanceof DescriptorPca)) // which keeps lengths at most
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
