package org.gramian.backbone;

import org.gramian.image.crop.Preprocessing;

/**
 * Description of a network.
 *
 * @param title full name
 * @param citation paper
 * @param size rows and columns of its training images
 * @param preprocessing preprocessing of its usual weights
 * @param weights origin of its weights
 */
public record BackboneInfo(String title, String citation, int size, Preprocessing preprocessing, Weights weights) {
    /**
     * Origin of weights.
     *
     * @param source publisher
     * @param licence licence
     */
    public record Weights(String source, String licence) {
        /** Origin for a network with fixed filters. */
        static final Weights NOT_NEEDED =
                new Weights("none needed: computed by formula", "Apache-2.0, like this program");

        /** Returns whether the network needs a weight file. */
        public boolean needed() {
            return !equals(NOT_NEEDED);
        }
    }
}
