package org.gramian.backbone;

import java.util.List;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;

/**
 * The networks that there are, with their default layers.
 *
 * <p>Why these layers: the paper cuts VGG at the last convolution, 14×14 positions at 224. Of GoogLeNet and SqueezeNet the
 * last layers with as many positions are taken: second order pays most where a layer has many positions. Of
 * EfficientNet-Lite4 both kinds were measured (Flickr materials, frozen, in percent): {@code block20} with 14×14 positions
 * gives 81.1 by the paper's head, {@code block28} with 7×7 gives 86.2. Depth was worth more than positions, and positions
 * can also be had by larger pictures; so there, and by analogy for ResNets, the default is the last layer before the
 * classifier's own.
 */
public final class Backbones {
    private static final List<Double> ONES = List.of(1.0, 1.0, 1.0);

    /** ImageNet's mean and deviation of each colour, as torchvision's weights expect. */
    private static final Preprocessing TORCHVISION =
            new Preprocessing(Order.RGB, List.of(123.675, 116.28, 103.53), List.of(58.395, 57.12, 57.375));

    private static final Preprocessing CAFFE = new Preprocessing(Order.BGR, List.of(104.0, 117.0, 123.0), ONES);

    private static final Preprocessing LITE =
            new Preprocessing(Order.RGB, List.of(127.0, 127.0, 127.0), List.of(128.0, 128.0, 128.0));

    /** Bytes to −1 … 1. */
    private static final Preprocessing CENTRED =
            new Preprocessing(Order.RGB, List.of(127.5, 127.5, 127.5), List.of(127.5, 127.5, 127.5));

    private static final String ON_IMAGENET = "; trained on ImageNet, whose own terms (research only) may apply";

    private static final About.Weights TORCH_WEIGHTS =
            new About.Weights("torchvision (PyTorch)", "BSD-3-Clause" + ON_IMAGENET);

    private static final About.Weights VGG_WEIGHTS = new About.Weights(
            "torchvision (PyTorch), or the authors' Caffe models",
            "BSD-3-Clause; the authors' own: CC BY 4.0" + ON_IMAGENET);

    private static final List<Network> ALL = List.of(
            new Network("vgg16", Vgg.sixteen(), "conv5_3", vgg("VGG-16")),
            new Network("vgg19", Vgg.nineteen(), "conv5_4", vgg("VGG-19")),
            new Network("resnet18", ResNet.eighteen(), "layer4", resNet("ResNet-18")),
            new Network("resnet50", ResNet.fifty(), "layer4", resNet("ResNet-50")),
            new Network(
                    "googlenet",
                    GoogLeNet.stages(),
                    "inception_4e",
                    new About(
                            "GoogLeNet (BVLC)",
                            "Szegedy et al., Going Deeper with Convolutions, CVPR 2015",
                            224,
                            CAFFE,
                            new About.Weights("BVLC Caffe model zoo", "unrestricted use" + ON_IMAGENET))),
            new Network(
                    "squeezenet",
                    SqueezeNet.stages(),
                    "fire9",
                    new About(
                            "SqueezeNet 1.1",
                            "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016",
                            224,
                            CAFFE,
                            new About.Weights("the authors (DeepScale), Caffe", "BSD-2-Clause" + ON_IMAGENET))),
            new Network(
                    "efficientnet-lite4",
                    EfficientNetLite4.stages(),
                    "block28",
                    new About(
                            "EfficientNet-Lite4",
                            "Tan and Le, EfficientNet: Rethinking Model Scaling, ICML 2019; Lite by Liu, 2020",
                            300,
                            LITE,
                            new About.Weights("Google (TensorFlow TPU models)", "Apache-2.0" + ON_IMAGENET))),
            new Network(
                    "filters",
                    List.of(new FilterBank("bank")),
                    "bank",
                    new About(
                            "Fixed bank of Gabor and Gaussian derivative filters",
                            "Daugman, Uncertainty relation for resolution in space, JOSA A 1985",
                            224,
                            CENTRED,
                            About.Weights.NOT_NEEDED)));

    private Backbones() {}

    private static About vgg(String title) {
        return new About(
                title,
                "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015",
                224,
                TORCHVISION,
                VGG_WEIGHTS);
    }

    private static About resNet(String title) {
        return new About(
                title,
                "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016",
                224,
                TORCHVISION,
                TORCH_WEIGHTS);
    }

    /** The names of all networks. */
    public static List<String> names() {
        return ALL.stream().map(Network::name).toList();
    }

    /** All networks, each cut at its default layer. */
    public static List<Backbone> all() {
        return names().stream().map(Backbone::of).toList();
    }

    /** The network of a name. */
    static Network network(String name) {
        return ALL.stream()
                .filter(network -> network.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no backbone '" + name + "'"
                        + NearestWord.suggestion(name, names()) + "; there are " + String.join(", ", names())));
    }
}
