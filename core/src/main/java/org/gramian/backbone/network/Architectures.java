package org.gramian.backbone.network;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.backbone.network.ConvolutionKernel.Border;
import org.gramian.backbone.network.NetworkLayer.Branches;
import org.gramian.backbone.network.NetworkLayer.Chain;
import org.gramian.backbone.network.NetworkLayer.Dense;
import org.gramian.backbone.network.NetworkLayer.Pool;
import org.gramian.backbone.network.NetworkLayer.Residual;
import org.gramian.backbone.network.NetworkLayer.ResponseNormalization;
import org.gramian.backbone.network.NetworkLayer.SqueezeExcitation;
import org.gramian.backbone.network.NetworkLayer.TopDown;
import org.gramian.tensor.Activation;

/**
 * Layers of the networks, from the tables of their papers, and of Gramian's own. Parameters have the names of the published
 * weights:
 * torchvision's for ResNet, MobileNet and EfficientNetV2, Caffe's for VGG, GoogLeNet and SqueezeNet.
 */
public final class Architectures {
    private static final int[] VGG_WIDTHS = {64, 128, 256, 512, 512};
    private static final int VGG_POOL5_SIDE = 7;
    private static final int[] RESNET_WIDTHS = {64, 128, 256, 512};
    private static final ResponseNorm GOOGLENET_NORM = new ResponseNorm(5, 1e-4, 0.75, 1);

    /** ε of the batch norms of MobileNetV3 and EfficientNetV2. */
    private static final double EPSILON = 1e-3;

    private Architectures() {}

    /**
     * Returns VGG (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", ICLR
     * 2015, table 1): layers {@code conv1_1}, …, {@code pool5}, {@code fc6}, {@code fc7}, {@code logits} (parameters
     * {@code fc8}). The fully connected layers fit images of 224×224 only; dropout is omitted.
     */
    public static List<NetworkLayer> vgg(int... convolutions) {
        List<NetworkLayer> stages = new ArrayList<>();
        for (int group = 1; group <= VGG_WIDTHS.length; group++) {
            for (int i = 1; i <= convolutions[group - 1]; i++) {
                stages.add(Conv.of("conv" + group + "_" + i, VGG_WIDTHS[group - 1], 3));
            }
            stages.add(Pool.max("pool" + group, 2, 2));
        }
        stages.add(new Dense("fc6", 4096, VGG_POOL5_SIDE, Activation.RELU));
        stages.add(new Dense("fc7", 4096, 1, Activation.RELU));
        stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("fc8", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Returns a ResNet (He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, table 1),
     * under torchvision's names: layers {@code conv1} (with norm and ReLU), {@code maxpool}, the blocks {@code
     * layer1.0}, …, {@code avgpool} and {@code logits} (parameters {@code fc}). The last block of each group has the
     * name of the group, such as {@code layer4}.
     */
    public static List<NetworkLayer> resNet(ResNetBlock kind, int... blocks) {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Conv.of("conv1", 64, 7).stride(2).normalized("bn1"));
        stages.add(Pool.max("maxpool", 3, 2).padded(1));
        long channels = 64;
        for (int group = 1; group <= RESNET_WIDTHS.length; group++) {
            for (int i = 0; i < blocks[group - 1]; i++) {
                int stride = group > 1 && i == 0 ? 2 : 1;
                String name = "layer" + group + "." + i;
                int width = RESNET_WIDTHS[group - 1];
                Chain body = switch (kind) {
                    case BASIC -> basicBlock(name, width, stride);
                    case BOTTLENECK -> bottleneck(name, width, 4 * width, 1, stride);
                    case BOTTLENECK_V1 -> bottleneck(name, width, 4 * width, stride, 1);
                };
                NetworkLayer block = new Residual(name, body, shortcut(body, channels, stride), Activation.RELU);
                boolean last = i == blocks[group - 1] - 1;
                stages.add(last ? Chain.of("layer" + group, block) : block);
                channels = block.channels(channels);
            }
        }
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("fc", 1000, 1, Activation.NONE)));
        return stages;
    }

    /** Kind of residual block. */
    public enum ResNetBlock {
        /** Two 3×3 convolutions: ResNet-18. */
        BASIC,
        /** 1×1, 3×3 with the stride, 1×1, as in torchvision, also named v1.5: ResNet-50. */
        BOTTLENECK,
        /** 1×1 with the stride, 3×3, 1×1, as in the paper and in Keras. */
        BOTTLENECK_V1
    }

    private static Chain basicBlock(String name, int width, int stride) {
        return Chain.of(
                name,
                Conv.of(name + ".conv1", width, 3).stride(stride).normalized(name + ".bn1"),
                Conv.of(name + ".conv2", width, 3).normalized(name + ".bn2").activation(Activation.NONE));
    }

    private static Chain bottleneck(String name, int width, int leaving, int first, int second) {
        return Chain.of(
                name,
                Conv.of(name + ".conv1", width, 1).stride(first).normalized(name + ".bn1"),
                Conv.of(name + ".conv2", width, 3).stride(second).normalized(name + ".bn2"),
                Conv.of(name + ".conv3", leaving, 1).normalized(name + ".bn3").activation(Activation.NONE));
    }

    /** Returns the identity if the shapes are equal, else a 1×1 convolution. */
    private static Chain shortcut(Chain body, long channels, int stride) {
        String name = body.name() + ".downsample";
        int leaving = Math.toIntExact(body.channels(channels));
        if (stride == 1 && leaving == channels) {
            return Chain.of(name);
        }
        Conv projection = Conv.of(name + ".0", leaving, 1).stride(stride).normalized(name + ".1");
        return Chain.of(name, projection.activation(Activation.NONE));
    }

    /**
     * Returns GoogLeNet (Szegedy et al., "Going Deeper with Convolutions", CVPR 2015, table 1) as in the BVLC Caffe
     * model zoo: pooling rounds up, two local response normalizations, no auxiliary classifiers. {@code pool5} is
     * global average pooling, {@code logits} has the parameters {@code loss3/classifier}.
     */
    public static List<NetworkLayer> googLeNet() {
        return List.of(
                Conv.of("conv1/7x7_s2", 64, 7).stride(2),
                halving("pool1/3x3_s2"),
                new ResponseNormalization("pool1/norm1", GOOGLENET_NORM),
                Conv.of("conv2/3x3_reduce", 64, 1),
                Conv.of("conv2/3x3", 192, 3),
                new ResponseNormalization("conv2/norm2", GOOGLENET_NORM),
                halving("pool2/3x3_s2"),
                inception("inception_3a", 64, 96, 128, 16, 32, 32),
                inception("inception_3b", 128, 128, 192, 32, 96, 64),
                halving("pool3/3x3_s2"),
                inception("inception_4a", 192, 96, 208, 16, 48, 64),
                inception("inception_4b", 160, 112, 224, 24, 64, 64),
                inception("inception_4c", 128, 128, 256, 24, 64, 64),
                inception("inception_4d", 112, 144, 288, 32, 64, 64),
                inception("inception_4e", 256, 160, 320, 32, 128, 128),
                halving("pool4/3x3_s2"),
                inception("inception_5a", 256, 160, 320, 32, 128, 128),
                inception("inception_5b", 384, 192, 384, 48, 128, 128),
                Pool.globalAverage("pool5"),
                Chain.of(NetworkLayer.LOGITS, new Dense("loss3/classifier", 1000, 1, Activation.NONE)));
    }

    /** Returns max pooling that halves the maps, with incomplete windows as in Caffe. */
    private static NetworkLayer halving(String name) {
        return Pool.max(name, 3, 2).roundedUp();
    }

    /** Returns an inception module of widths 1×1, 3×3 reduce, 3×3, 5×5 reduce, 5×5, pool projection. */
    private static NetworkLayer inception(String name, int... widths) {
        return Branches.of(
                name,
                Conv.of(name + "/1x1", widths[0], 1),
                Chain.of(
                        name + "/3x3",
                        Conv.of(name + "/3x3_reduce", widths[1], 1),
                        Conv.of(name + "/3x3", widths[2], 3)),
                Chain.of(
                        name + "/5x5",
                        Conv.of(name + "/5x5_reduce", widths[3], 1),
                        Conv.of(name + "/5x5", widths[4], 5)),
                Chain.of(
                        name + "/pool",
                        Pool.max(name + "/pool", 3, 1).padded(1),
                        Conv.of(name + "/pool_proj", widths[5], 1)));
    }

    /**
     * Returns SqueezeNet 1.1 (Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and
     * &lt;0.5MB model size", arXiv:1602.07360, figure 2), under the authors' Caffe names; {@code logits} is the mean of
     * each map of {@code conv10}.
     */
    public static List<NetworkLayer> squeezeNet() {
        return List.of(
                Conv.of("conv1", 64, 3).stride(2).border(Border.NONE),
                halving("pool1"),
                fire("fire2", 16, 64),
                fire("fire3", 16, 64),
                halving("pool3"),
                fire("fire4", 32, 128),
                fire("fire5", 32, 128),
                halving("pool5"),
                fire("fire6", 48, 192),
                fire("fire7", 48, 192),
                fire("fire8", 64, 256),
                fire("fire9", 64, 256),
                Conv.of("conv10", 1000, 1),
                Pool.globalAverage(NetworkLayer.LOGITS));
    }

    /** Returns a fire module: a 1×1 convolution to few channels, then parallel 1×1 and 3×3 convolutions. */
    private static NetworkLayer fire(String name, int squeezed, int expanded) {
        return Chain.of(
                name,
                Conv.of(name + "/squeeze1x1", squeezed, 1),
                Branches.of(
                        name + "/expand",
                        Conv.of(name + "/expand1x1", expanded, 1),
                        Conv.of(name + "/expand3x3", expanded, 3)));
    }

    /**
     * Returns EfficientNet-Lite4 (Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural
     * Networks", ICML 2019; Lite by Liu, 2020): inverted bottlenecks with depthwise convolutions, ReLU6, TensorFlow's
     * SAME padding and batch norms folded into the convolutions; no squeeze-and-excitation. Layers {@code block0_conv0}
     * (the stem), {@code block0} to {@code block29}, {@code head_conv}, {@code avgpool} and {@code logits} (parameters
     * {@code dense}).
     */
    public static List<NetworkLayer> efficientNetLite4() {
        int[][] table = { // blocks, output channels, kernel size, stride of the first block
            {1, 24, 3, 1}, {4, 32, 3, 2}, {4, 56, 5, 2}, {6, 112, 3, 2}, {6, 160, 5, 1}, {8, 272, 5, 2}, {1, 448, 3, 1}
        };
        int channels = 32;
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(sameConv("block0_conv0", channels, 3).stride(2));
        for (int[] row : table) {
            for (int i = 0; i < row[0]; i++) {
                String name = "block" + (stages.size() - 1);
                stages.add(invertedBottleneck(name, channels, row[1], row[2], i == 0 ? row[3] : 1));
                channels = row[1];
            }
        }
        stages.add(sameConv("head_conv", 1280, 1));
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("dense", 1000, 1, Activation.NONE)));
        return stages;
    }

    /** Returns 1×1 expansion by 6 (none in block 0), depthwise convolution and projection; residual if shapes are equal. */
    private static NetworkLayer invertedBottleneck(String name, int entering, int leaving, int size, int stride) {
        List<NetworkLayer> body = new ArrayList<>();
        boolean first = name.equals("block0");
        int inner = first ? entering : 6 * entering;
        if (!first) {
            body.add(sameConv(name + "_conv0", inner, 1));
        }
        body.add(sameConv(name + "_conv1", inner, size).stride(stride).depthwise());
        body.add(sameConv(name + "_conv2", leaving, 1).activation(Activation.NONE));
        return residualIfEqual(new Chain(name, body), entering, leaving, stride);
    }

    /** Adds the identity to a block of linear output if it keeps the shape. */
    private static NetworkLayer residualIfEqual(Chain body, int entering, int leaving, int stride) {
        return stride == 1 && entering == leaving
                ? new Residual(body.name(), body, Chain.of(body.name() + "_shortcut"), Activation.NONE)
                : body;
    }

    private static Conv sameConv(String name, int channels, int size) {
        return Conv.of(name, channels, size).border(Border.SAME).activation(Activation.RELU6);
    }

    /**
     * Returns MobileNetV3-Large (Howard et al., "Searching for MobileNetV3", ICCV 2019, table 1) as in torchvision:
     * layers {@code features.0} (the stem) to {@code features.16}, {@code avgpool}, {@code classifier.0} and {@code
     * logits} (parameters {@code classifier.3}); dropout is omitted.
     */
    public static List<NetworkLayer> mobileNetV3Large() {
        int[][] table = { // kernel size, expanded channels, output channels, squeezed channels or 0, hard swish, stride
            {3, 16, 16, 0, 0, 1},
            {3, 64, 24, 0, 0, 2},
            {3, 72, 24, 0, 0, 1},
            {5, 72, 40, 24, 0, 2},
            {5, 120, 40, 32, 0, 1},
            {5, 120, 40, 32, 0, 1},
            {3, 240, 80, 0, 1, 2},
            {3, 200, 80, 0, 1, 1},
            {3, 184, 80, 0, 1, 1},
            {3, 184, 80, 0, 1, 1},
            {3, 480, 112, 120, 1, 1},
            {3, 672, 112, 168, 1, 1},
            {5, 672, 160, 168, 1, 2},
            {5, 960, 160, 240, 1, 1},
            {5, 960, 160, 240, 1, 1}
        };
        int channels = 16;
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Chain.of(
                "features.0",
                torchConv("features.0", channels, 3, Activation.HARD_SWISH).stride(2)));
        for (int[] row : table) {
            Activation activation = row[4] == 1 ? Activation.HARD_SWISH : Activation.RELU;
            MobileBlock block = new MobileBlock("features." + stages.size(), activation, row[0], row[5]);
            Excitation excitation = new Excitation(row[3], Activation.RELU, Activation.HARD_SIGMOID);
            stages.add(block.of(channels, row[1], row[2], excitation));
            channels = row[2];
        }
        stages.add(Chain.of("features.16", torchConv("features.16", 960, 1, Activation.HARD_SWISH)));
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(new Dense("classifier.0", 1280, 1, Activation.HARD_SWISH));
        stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("classifier.3", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Returns EfficientNetV2-S (Tan and Le, "EfficientNetV2: Smaller Models and Faster Training", ICML 2021, table 4)
     * as in torchvision: layers {@code features.0} (the stem), the blocks {@code features.1.0}, …, {@code features.7},
     * {@code avgpool} and {@code logits} (parameters {@code classifier.1}). The last block of each group has the name
     * of the group, such as {@code features.6}. Dropout and stochastic depth are omitted, in training too.
     */
    public static List<NetworkLayer> efficientNetV2Small() {
        int[][] table = { // blocks, output channels, expansion, stride of the first block, 1 if fused
            {2, 24, 1, 1, 1}, {4, 48, 4, 2, 1}, {4, 64, 4, 2, 1},
            {6, 128, 4, 2, 0}, {9, 160, 6, 1, 0}, {15, 256, 6, 2, 0}
        };
        int channels = 24;
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Chain.of(
                "features.0",
                torchConv("features.0", channels, 3, Activation.SILU).stride(2)));
        for (int group = 1; group <= table.length; group++) {
            int[] row = table[group - 1];
            for (int i = 0; i < row[0]; i++) {
                String name = "features." + group + "." + i;
                MobileBlock kind = new MobileBlock(name, Activation.SILU, 3, i == 0 ? row[3] : 1);
                Excitation excitation = new Excitation(channels / 4, Activation.SILU, Activation.SIGMOID);
                NetworkLayer block = row[4] == 1
                        ? kind.fused(channels, row[2] * channels, row[1])
                        : kind.of(channels, row[2] * channels, row[1], excitation);
                stages.add(i == row[0] - 1 ? Chain.of("features." + group, block) : block);
                channels = row[1];
            }
        }
        stages.add(Chain.of("features.7", torchConv("features.7", 1280, 1, Activation.SILU)));
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(NetworkLayer.LOGITS, new Dense("classifier.1", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Returns Gramian-S, a network of 2.9 M parameters for second-order pooling on a CPU: plain convolutions, which are
     * faster than depthwise ones there, and feature maps {@code [256, 14, 14]} at 224 pixels that combine positions with
     * depth, see {@link TopDown}. It is as fast as SqueezeNet 1.1 up to {@code fire9}.
     *
     * <p>Layers {@code stem}, {@code layer1}, {@code layer2.0} to {@code layer2} (28×28), {@code layer3.0} to {@code
     * layer3} (14×14) and {@code layer4}, whose blocks have 7×7 positions. There is no classifier.
     */
    public static List<NetworkLayer> gramianSmall() {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(normalized("stem", 32, 3).stride(2));
        stages.add(normalized("layer1", 64, 3).stride(2));
        stages.addAll(group("layer2", 128, 64, 1));
        stages.addAll(group("layer3", 256, 96, 4));
        List<NetworkLayer> coarse = new ArrayList<>(group("layer4", 320, 112, 6));
        coarse.add(normalized("layer4.lateral", 256, 1).activation(Activation.NONE));
        stages.add(new TopDown("layer4", new Chain("layer4.coarse", coarse), Activation.RELU));
        return stages;
    }

    /** Returns a halving convolution and bottlenecks; the last one has the name of the group. */
    private static List<NetworkLayer> group(String name, int channels, int width, int blocks) {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(normalized(name + ".0", channels, 3).stride(2));
        for (int i = 1; i <= blocks; i++) {
            Chain body = bottleneck(name + "." + i, width, channels, 1, 1);
            NetworkLayer block = new Residual(body.name(), body, shortcut(body, channels, 1), Activation.RELU);
            stages.add(i == blocks ? Chain.of(name, block) : block);
        }
        return stages;
    }

    private static Conv normalized(String name, int channels, int size) {
        return Conv.of(name, channels, size).normalized(name + ".bn");
    }

    /** Returns a convolution {@code name.0} with the batch norm {@code name.1}, torchvision's Conv2dNormActivation. */
    private static Conv torchConv(String name, int channels, int size, Activation activation) {
        return Conv.of(name + ".0", channels, size)
                .normalized(name + ".1", EPSILON)
                .activation(activation);
    }

    /** Squeezed channels, 0 for no squeeze-and-excitation, and its two activations. */
    private record Excitation(int squeezed, Activation inner, Activation outer) {}

    /**
     * Inverted bottleneck under torchvision's names {@code name.block.0}, …; residual if input and output have equal
     * shapes.
     *
     * @param size size of the depthwise convolution, or of the first one if fused
     */
    private record MobileBlock(String name, Activation activation, int size, int stride) {
        /** 1×1 expansion if it changes the channels, depthwise convolution, squeeze-and-excitation, 1×1 projection. */
        NetworkLayer of(int entering, int expanded, int leaving, Excitation excitation) {
            List<NetworkLayer> parts = new ArrayList<>();
            if (expanded != entering) {
                parts.add(torchConv(part(parts), expanded, 1, activation));
            }
            parts.add(torchConv(part(parts), expanded, size, activation)
                    .stride(stride)
                    .depthwise());
            if (excitation.squeezed > 0) {
                parts.add(SqueezeExcitation.of(
                        part(parts), expanded, excitation.squeezed, excitation.inner, excitation.outer));
            }
            parts.add(torchConv(part(parts), leaving, 1, Activation.NONE));
            return residualIfEqual(new Chain(name, parts), entering, leaving, stride);
        }

        /** Convolution that expands, and 1×1 projection; only the convolution without expansion. */
        NetworkLayer fused(int entering, int expanded, int leaving) {
            List<NetworkLayer> parts = new ArrayList<>();
            parts.add(torchConv(part(parts), expanded, size, activation).stride(stride));
            if (expanded != entering) {
                parts.add(torchConv(part(parts), leaving, 1, Activation.NONE));
            }
            return residualIfEqual(new Chain(name, parts), entering, leaving, stride);
        }

        private String part(List<NetworkLayer> before) {
            return name + ".block." + before.size();
        }
    }
}
