package org.gramian.backbone.weights;

import java.util.Optional;
import org.gramian.image.crop.Preprocessing;

/**
 * Where weights come from, which decides what pictures must look like and what one may do with them.
 *
 * @param label for messages, as {@code torchvision}
 * @param preprocessing what the network was trained on; empty if only the file can know
 * @param licence of the weights; empty if only the file can know
 */
record Publisher(String label, Optional<Preprocessing> preprocessing, Optional<String> licence) {
    private static final String ON_IMAGENET = "; trained on ImageNet, whose own terms (research only) may apply";

    static final Publisher TORCHVISION = of("torchvision", Preprocessing.TORCHVISION, "BSD-3-Clause");
    static final Publisher KERAS = of("Keras", Preprocessing.VGG_CAFFE, "CC BY 4.0");
    static final Publisher VGG_CAFFE = of("Caffe (VGG group, Oxford)", Preprocessing.VGG_CAFFE, "CC BY 4.0");
    static final Publisher BVLC = of("Caffe (BVLC)", Preprocessing.CAFFE, "unrestricted use");
    static final Publisher DEEPSCALE = of("Caffe (DeepScale)", Preprocessing.CAFFE, "BSD-2-Clause");

    /** A file with the names of this program: it alone can say more. */
    static final Publisher OWN_NAMES = new Publisher("the names of this program", Optional.empty(), Optional.empty());

    private static Publisher of(String label, Preprocessing preprocessing, String licence) {
        return new Publisher(label, Optional.of(preprocessing), Optional.of(licence + ON_IMAGENET));
    }
}
