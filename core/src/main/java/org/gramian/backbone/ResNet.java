package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Dense;
import org.gramian.backbone.NetworkLayer.Pool;
import org.gramian.backbone.NetworkLayer.Residual;
import org.gramian.tensor.Activation;

/**
 * ResNet-18 of basic blocks and ResNet-50 of bottlenecks (table 1), under torchvision's names.
 *
 * <p>He, Zhang, Ren and Sun, <i>Deep Residual Learning for Image Recognition</i>, CVPR 2016; as in torchvision the 3×3
 * convolution of a bottleneck has the stride, not the first 1×1. Layers {@code conv1} (with its norm and ReLU), {@code
 * maxpool}, the blocks {@code layer1.0}, …, {@code avgpool} and {@code logits} (parameters {@code fc}); the last block of each
 * group goes by the group's name, as {@code layer4}.
 */
final class ResNet {
    private static final int[] WIDTHS = {64, 128, 256, 512};

    private ResNet() {}

    /** How a block is made. */
    @FunctionalInterface
    private interface Block {
        Chain body(String name, int width, int stride);
    }

    static List<NetworkLayer> eighteen() {
        return stages(ResNet::basic, 2, 2, 2, 2);
    }

    static List<NetworkLayer> fifty() {
        return stages(ResNet::bottleneck, 3, 4, 6, 3);
    }

    private static Chain basic(String name, int width, int stride) {
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

    private static List<NetworkLayer> stages(Block kind, int... blocks) {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(Conv.of("conv1", 64, 7).stride(2).normalized("bn1"));
        stages.add(Pool.max("maxpool", 3, 2).padded(1));
        long channels = 64;
        for (int group = 1; group <= WIDTHS.length; group++) {
            for (int i = 0; i < blocks[group - 1]; i++) {
                int stride = group > 1 && i == 0 ? 2 : 1;
                Chain body = kind.body("layer" + group + "." + i, WIDTHS[group - 1], stride);
                NetworkLayer block = new Residual(body.name(), body, shortcut(body, channels, stride), Activation.RELU);
                boolean last = i == blocks[group - 1] - 1;
                stages.add(last ? Chain.of("layer" + group, block) : block);
                channels = block.channels(channels);
            }
        }
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(Backbone.LOGITS, new Dense("fc", 1000, 1, Activation.NONE)));
        return stages;
    }

    /** Nothing where the shapes agree, otherwise a 1×1 convolution. */
    private static Chain shortcut(Chain body, long channels, int stride) {
        String name = body.name() + ".downsample";
        int leaving = Math.toIntExact(body.channels(channels));
        return stride == 1 && leaving == channels
                ? Chain.of(name)
                : Chain.of(
                        name,
                        Conv.of(name + ".0", leaving, 1)
                                .stride(stride)
                                .normalized(name + ".1")
                                .activation(Activation.NONE));
    }
}
