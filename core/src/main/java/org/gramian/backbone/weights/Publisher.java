package org.gramian.backbone.weights;

import java.util.Optional;
import org.gramian.backbone.Licence;
import org.gramian.image.crop.Preprocessing;

/**
 * Where weights come from, which decides what images must look like and what one may do with them.
 *
 * @param label for messages, as {@code torchvision}
 * @param file what is published, for people who look for it, as {@code torchvision's .pth}
 * @param preprocessing what the network was trained on; empty if only the file can know
 * @param licence of the weights; empty if only the file can know
 */
record Publisher(String label, String file, Optional<Preprocessing> preprocessing, Optional<String> licence) {
    static final Publisher TORCHVISION =
            of("torchvision", "torchvision's .pth", Preprocessing.TORCHVISION, Licence.TORCHVISION);
    static final Publisher KERAS = of("Keras", "Keras' .h5", Preprocessing.VGG_CAFFE, Licence.VGG_AUTHORS);
    static final Publisher VGG_CAFFE =
            of("Caffe (VGG group, Oxford)", "the authors' .caffemodel", Preprocessing.VGG_CAFFE, Licence.VGG_AUTHORS);
    static final Publisher BVLC = of(
            "Caffe (BVLC)", "bvlc_googlenet.caffemodel of the BVLC Caffe model zoo", Preprocessing.CAFFE, Licence.BVLC);
    static final Publisher DEEPSCALE =
            of("Caffe (DeepScale)", "squeezenet_v1.1.caffemodel", Preprocessing.CAFFE, Licence.DEEPSCALE);

    /** A file with the names of this program: it alone can say more. */
    static final Publisher OWN_NAMES =
            new Publisher("Gramian's tensor names", "a .safetensors file", Optional.empty(), Optional.empty());

    /** A file that may be somebody else's, with the same names: what one may do with it is not known. */
    Publisher supposed() {
        return new Publisher(label, file, preprocessing, Optional.empty());
    }

    private static Publisher of(String label, String file, Preprocessing preprocessing, Licence licence) {
        return new Publisher(label, file, Optional.of(preprocessing), Optional.of(licence.text()));
    }
}
