package org.gramian.backbone.weights;

import java.util.Optional;
import org.gramian.backbone.Licence;
import org.gramian.image.crop.Preprocessing;

/**
 * Publisher of weights, which determines preprocessing and licence.
 *
 * @param label name for messages, such as {@code torchvision}
 * @param file description of the published file, such as {@code torchvision's .pth}
 * @param preprocessing preprocessing of images; empty if only the file can state it
 * @param licence licence of the weights; empty if only the file can state it
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

    /** File with Gramian's own names: only the file can state more. */
    static final Publisher OWN_NAMES =
            new Publisher("Gramian's tensor names", "a .safetensors file", Optional.empty(), Optional.empty());

    /** Returns this publisher without a licence, for a file that is recognized by its names only. */
    Publisher supposed() {
        return new Publisher(label, file, preprocessing, Optional.empty());
    }

    private static Publisher of(String label, String file, Preprocessing preprocessing, Licence licence) {
        return new Publisher(label, file, Optional.of(preprocessing), Optional.of(licence.text()));
    }
}
