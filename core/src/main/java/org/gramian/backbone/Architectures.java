package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.FeatureMaps.ResponseNorm;
import org.gramian.backbone.ConvolutionKernel.Border;
import org.gramian.backbone.NetworkLayer.Branches;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Dense;
import org.gramian.backbone.NetworkLayer.Pool;
import org.gramian.backbone.NetworkLayer.Residual;
import org.gramian.backbone.NetworkLayer.ResponseNormalization;
import org.gramian.tensor.Activation;

/**
 * Layers of the networks, from the tables of their papers. Parameters have the names of the published weights:
 * torchvision's for ResNet, Caffe's for VGG, GoogLeNet and SqueezeNet.
 */
final class Architectures {
    private static final int[] VGG_WIDTHS = {64, 128, 256, 512, 512};
    private static final int VGG_POOL5_SIDE = 7;
    private static final int[] RESNET_WIDTHS = {64, 128, 256, 512};
    private static final ResponseNorm GOOGLENET_NORM = new ResponseNorm(5, 1e-4, 0.75, 1);

    private Architectures() {}

    /**
     * Returns VGG (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", ICLR
     * 2015, table 1): layers {@code conv1_1}, …, {@code pool5}, {@code fc6}, {@code fc7}, {@code logits} (parameters
     * {@code fc8}). The fully connected layers fit images of 224×224 only; dropout is omitted.
     *
     * @param convolutions number of 3×3 convolutions in each of the five groups
     */
    static List<NetworkLayer> vgg(int... convolutions) {
        List<NetworkLayer> stages = new ArrayList<>();
        for (int group = 1; group <= VGG_WIDTHS.length; group++) {
            for (int i = 1; i <= convolutions[group - 1]; i++) {
                stages.add(Conv.of("conv" + group + "_" + i, VGG_WIDTHS[group - 1], 3));
            }
            stages.add(Pool.max("pool" + group, 2, 2));
        }
        stages.add(new Dense("fc6", 4096, VGG_POOL5_SIDE, Activation.RELU));
        stages.add(new Dense("fc7", 4096, 1, Activation.RELU));
        stages.add(Chain.of(Backbone.LOGITS, new Dense("fc8", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Returns a ResNet (He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", CVPR 2016, table 1),
     * with the stride in the 3×3 convolution of a bottleneck as in torchvision: layers {@code conv1} (with norm and
     * ReLU), {@code maxpool}, the blocks {@code layer1.0}, …, {@code avgpool} and {@code logits} (parameters {@code
     * fc}). The last block of each group has the name of the group, such as {@code layer4}.
     *
     * @param bottlenecks whether blocks are bottlenecks (ResNet-50) or basic blocks (ResNet-18)
     * @param blocks number of blocks in each of the four groups
     */
    static List<NetworkLayer> resNet(boolean bottlenecks, int... blocks) {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Conv.of("conv1", 64, 7).stride(2).normalized("bn1"));
        stages.add(Pool.max("maxpool", 3, 2).padded(1));
        long channels = 64;
        for (int group = 1; group <= RESNET_WIDTHS.length; group++) {
            for (int i = 0; i < blocks[group - 1]; i++) {
                int stride = group > 1 && i == 0 ? 2 : 1;
                String name = "layer" + group + "." + i;
                int width = RESNET_WIDTHS[group - 1];
                Chain body = bottlenecks ? bottleneck(name, width, stride) : basicBlock(name, width, stride);
                NetworkLayer block = new Residual(name, body, shortcut(body, channels, stride), Activation.RELU);
                boolean last = i == blocks[group - 1] - 1;
                stages.add(last ? Chain.of("layer" + group, block) : block);
                channels = block.channels(channels);
            }
        }
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(Backbone.LOGITS, new Dense("fc", 1000, 1, Activation.NONE)));
        return stages;
    }

    private static Chain basicBlock(String name, int width, int stride) {
        return Chain.of(
                name,
                Conv.of(name + ".conv1", width, 3).stride(stride).normalized(name + ".bn1"),
                Conv.of(name + ".conv2", width, 3).normalized(name + ".bn2").activation(Activation.NONE));
    }

    private static Chain bottleneck(String name, int width, int stride) {
        return Chain.of(
                name,
                Conv.of(name + ".conv1", width, 1).normalized(name + ".bn1"),
                Conv.of(name + ".conv2", width, 3).stride(stride).normalized(name + ".bn2"),
                Conv.of(name + ".conv3", 4 * width, 1).normalized(name + ".bn3").activation(Activation.NONE));
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
    static List<NetworkLayer> googLeNet() {
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
                Chain.of(Backbone.LOGITS, new Dense("loss3/classifier", 1000, 1, Activation.NONE)));
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
    static List<NetworkLayer> squeezeNet() {
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
                Pool.globalAverage(Backbone.LOGITS));
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
    static List<NetworkLayer> efficientNetLite4() {
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
        stages.add(Chain.of(Backbone.LOGITS, new Dense("dense", 1000, 1, Activation.NONE)));
        return stages;
    }

    /**
     * Returns 1×1 expansion by 6 (none in block 0), depthwise convolution and projection; residual if shapes are
     * equal.
     */
    private static NetworkLayer invertedBottleneck(String name, int entering, int leaving, int size, int stride) {
        List<NetworkLayer> body = new ArrayList<>();
        boolean first = name.equals("block0");
        int inner = first ? entering : 6 * entering;
        if (!first) {
            body.add(sameConv(name + "_conv0", inner, 1));
        }
        body.add(sameConv(name + "_conv1", inner, size).stride(stride).depthwise());
        body.add(sameConv(name + "_conv2", leaving, 1).activation(Activation.NONE));
        Chain chain = new Chain(name, body);
        return stride == 1 && entering == leaving
                ? new Residual(name, chain, Chain.of(name + "_shortcut"), Activation.NONE)
                : chain;
    }

    private static Conv sameConv(String name, int channels, int size) {
        return Conv.of(name, channels, size).border(Border.SAME).activation(Activation.RELU6);
    }
}
