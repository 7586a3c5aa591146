package org.gramian.run.config;

import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;

/**
 * The learning rate of new layers, which belongs to the pooling: it decides how long descriptors are.
 *
 * <p>These rates gave the reference figures on Flickr's materials. Descriptors of length 1 want large steps of the
 * classifier, {@value #NORMALIZED}; the matrices on the Stiefel manifold then move at a thousandth of that, see {@link
 * org.gramian.train.StiefelOptions}. Descriptors that are not normalized, as averages and the roots of covariances, are
 * far longer and want {@value #UNNORMALIZED}.
 */
final class HeadRate {
    static final double NORMALIZED = 1;
    static final double UNNORMALIZED = 0.01;
    static final String RULE = "1 where the pooling ends in l2, else 0.01";

    private HeadRate() {}

    static boolean isNormalized(Pooling pooling) {
        return !pooling.normalizations().isEmpty() && pooling.normalizations().getLast() instanceof Normalization.L2;
    }

    static double of(Pooling pooling) {
        return isNormalized(pooling) ? NORMALIZED : UNNORMALIZED;
    }

    static String reason(Pooling pooling) {
        return isNormalized(pooling)
                ? "the pooling gives descriptors of length 1, which want large steps"
                : "the pooling does not normalize its descriptors";
    }
}
