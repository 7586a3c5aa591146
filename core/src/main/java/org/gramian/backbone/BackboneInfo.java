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

    /** Licences of published weights. */
    public enum Licence {
        TORCHVISION("BSD-3-Clause"),
        /** Of the authors of VGG, also for the weights converted by Keras. */
        VGG_AUTHORS("CC BY 4.0"),
        TORCHVISION_OR_VGG(TORCHVISION.terms + "; the authors' licence: " + VGG_AUTHORS.terms),
        BVLC("unrestricted use"),
        DEEPSCALE("BSD-2-Clause"),
        GOOGLE("Apache-2.0");

        private static final String ON_IMAGENET = "; trained on ImageNet, whose own terms (research only) may apply";

        private final String terms;

        Licence(String terms) {
            this.terms = terms;
        }

        /** Returns the publisher's terms, with a note on the terms of ImageNet. */
        public String text() {
            return terms + ON_IMAGENET;
        }
    }
}
