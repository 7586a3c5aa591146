package org.gramian.backbone;

import java.util.List;
import org.gramian.backbone.ConvolutionKernel.Border;
import org.gramian.backbone.NetworkLayer.Branches;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Pool;

/**
 * SqueezeNet 1.1: fire modules, each a 1×1 convolution to few maps and 1×1 and 3×3 convolutions back to many (figure 2).
 *
 * <p>Iandola et al., <i>SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and &lt;0.5MB model size</i>,
 * arXiv:1602.07360; version 1.1 pools earlier and has a smaller first layer. Layers and parameters go by the authors'
 * Caffe names; {@code logits} is the mean of each map of {@code conv10}.
 */
final class SqueezeNet {
    private SqueezeNet() {}

    static List<NetworkLayer> stages() {
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

    private static NetworkLayer halving(String name) {
        return Pool.max(name, 3, 2).roundedUp();
    }

    private static NetworkLayer fire(String name, int squeezed, int expanded) {
        return Chain.of(
                name,
                Conv.of(name + "/squeeze1x1", squeezed, 1),
                Branches.of(
                        name + "/expand",
                        Conv.of(name + "/expand1x1", expanded, 1),
                        Conv.of(name + "/expand3x3", expanded, 3)));
    }
}
