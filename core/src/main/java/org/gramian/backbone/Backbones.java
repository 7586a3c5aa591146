package org.gramian.backbone;

import java.util.List;
import org.gramian.backbone.BackboneInfo.Licence;
import org.gramian.backbone.Network.Cuts;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;

/**
 * Registry of the networks with their default feature layers.
 *
 * <p>The paper uses the last convolution of VGG, 14×14 positions at 224 pixels. GoogLeNet and SqueezeNet use their last
 * layers with as many positions, since second-order pooling gains most from many positions. For EfficientNet-Lite4 an
 * independent PyTorch program measured both choices (Flickr materials, frozen, the paper's head): 81.1 % for {@code
 * block20} with 14×14 positions, 86.2 % for {@code block28} with 7×7. Depth was worth more than positions, which larger
 * images provide as well; so its default, and by analogy that of ResNets, is the last layer before the classifier.
 * Fine-grained classes gain from the earlier layer: frozen, iSQRT-COV on {@code block20} reaches 91 % on cars39,
 * average pooling on {@code block28} 67 %, so {@code --pooling auto} compares both (docs/results.md).
 */
public final class Backbones {
    /** Scales bytes to {@code [−1, 1]}. */
    private static final Preprocessing CENTRED =
            new Preprocessing(Order.RGB, List.of(127.5, 127.5, 127.5), List.of(127.5, 127.5, 127.5));

    private static final BackboneInfo.Weights TORCH_WEIGHTS =
            new BackboneInfo.Weights("torchvision (PyTorch)", Licence.TORCHVISION.text());

    private static final BackboneInfo.Weights VGG_WEIGHTS = new BackboneInfo.Weights(
            "torchvision (PyTorch), or the authors' Caffe models", Licence.TORCHVISION_OR_VGG.text());

    private static final List<Network> ALL = List.of(
            new Network("vgg16", Architectures.vgg(2, 2, 3, 3, 3), new Cuts("conv5_3", "fc6"), vgg("VGG-16")),
            new Network("vgg19", Architectures.vgg(2, 2, 4, 4, 4), new Cuts("conv5_4", "fc6"), vgg("VGG-19")),
            new Network(
                    "resnet18",
                    Architectures.resNet(false, 2, 2, 2, 2),
                    new Cuts("layer4", Backbone.LOGITS),
                    resNet("ResNet-18")),
            new Network(
                    "resnet50",
                    Architectures.resNet(true, 3, 4, 6, 3),
                    new Cuts("layer4", Backbone.LOGITS),
                    resNet("ResNet-50")),
            new Network(
                    "googlenet",
                    Architectures.googLeNet(),
                    new Cuts("inception_4e", Backbone.LOGITS),
                    new BackboneInfo(
                            "GoogLeNet (BVLC)",
                            "Szegedy et al., Going Deeper with Convolutions, CVPR 2015",
                            224,
                            Preprocessing.CAFFE,
                            new BackboneInfo.Weights("BVLC Caffe model zoo", Licence.BVLC.text()))),
            new Network(
                    "squeezenet",
                    Architectures.squeezeNet(),
                    new Cuts("fire9", "conv10"),
                    new BackboneInfo(
                            "SqueezeNet 1.1",
                            "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016",
                            224,
                            Preprocessing.CAFFE,
                            new BackboneInfo.Weights("the authors (DeepScale), Caffe", Licence.DEEPSCALE.text()))),
            new Network(
                    "efficientnet-lite4",
                    Architectures.efficientNetLite4(),
                    new Cuts("block28", Backbone.LOGITS).with("block20+block28", "block20+block29"),
                    new BackboneInfo(
                            "EfficientNet-Lite4",
                            "Tan and Le, EfficientNet: Rethinking Model Scaling, ICML 2019; Lite by Liu, 2020",
                            300,
                            Preprocessing.TENSORFLOW,
                            new BackboneInfo.Weights("Google (TensorFlow TPU models)", Licence.GOOGLE.text()))),
            new Network(
                    "filters",
                    List.of(new FilterBank("bank")),
                    Cuts.withoutClassifier("bank"),
                    new BackboneInfo(
                            "Fixed bank of Gabor and Gaussian derivative filters",
                            "Daugman, Uncertainty relation for resolution in space, JOSA A 1985",
                            224,
                            CENTRED,
                            BackboneInfo.Weights.NOT_NEEDED)));

    private Backbones() {}

    private static BackboneInfo vgg(String title) {
        return new BackboneInfo(
                title,
                "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015",
                224,
                Preprocessing.TORCHVISION,
                VGG_WEIGHTS);
    }

    private static BackboneInfo resNet(String title) {
        return new BackboneInfo(
                title,
                "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016",
                224,
                Preprocessing.TORCHVISION,
                TORCH_WEIGHTS);
    }

    /** Returns the names of all networks. */
    public static List<String> names() {
        return ALL.stream().map(Network::name).toList();
    }

    /** Returns all networks with their default feature layers. */
    public static List<Backbone> all() {
        return names().stream().map(Backbone::of).toList();
    }

    /** Returns the network of a name. */
    static Network network(String name) {
        return ALL.stream()
                .filter(network -> network.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown backbone '" + name + "'"
                        + NearestWord.suggestion(name, names()) + "; available: " + String.join(", ", names())));
    }
}
