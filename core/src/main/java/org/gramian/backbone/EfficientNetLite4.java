package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.backbone.ConvolutionKernel.Border;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Dense;
import org.gramian.backbone.NetworkLayer.Pool;
import org.gramian.backbone.NetworkLayer.Residual;
import org.gramian.tensor.Activation;

/**
 * EfficientNet-Lite4: inverted bottlenecks with depthwise convolutions, ReLU6, TensorFlow's SAME padding, and batch norms
 * folded into the convolutions.
 *
 * <p>Tan and Le, <i>EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks</i>, ICML 2019, in Google's
 * variant for small devices (Liu, 2020), which has no squeeze-and-excitation and no swish. Layers {@code block0_conv0} (the
 * first convolution), {@code block0} to {@code block29}, {@code head_conv}, {@code avgpool} and {@code logits} (parameters
 * {@code dense}).
 */
final class EfficientNetLite4 {
    /**
     * A row of the table.
     *
     * @param blocks how many blocks of this kind follow each other
     * @param channels maps that leave each
     * @param size of the depthwise windows
     * @param stride of the first block
     */
    private record Row(int blocks, int channels, int size, int stride) {}

    private static final List<Row> ROWS = List.of(
            new Row(1, 24, 3, 1),
            new Row(4, 32, 3, 2),
            new Row(4, 56, 5, 2),
            new Row(6, 112, 3, 2),
            new Row(6, 160, 5, 1),
            new Row(8, 272, 5, 2),
            new Row(1, 448, 3, 1));

    private static final int FIRST = 32;
    private static final int EXPANSION = 6;

    private EfficientNetLite4() {}

    static List<NetworkLayer> stages() {
        List<NetworkLayer> stages = new ArrayList<>();
        stages.add(conv("block0_conv0", FIRST, 3).stride(2));
        int channels = FIRST;
        int number = 0;
        for (Row row : ROWS) {
            for (int i = 0; i < row.blocks; i++) {
                stages.add(block("block" + number, channels, row, i == 0 ? row.stride : 1));
                channels = row.channels;
                number++;
            }
        }
        stages.add(conv("head_conv", 1280, 1));
        stages.add(Pool.globalAverage("avgpool"));
        stages.add(Chain.of(Backbone.LOGITS, new Dense("dense", 1000, 1, Activation.NONE)));
        return stages;
    }

    /** Expansion by a 1×1 convolution (none in block 0), depthwise convolution, projection; a way around where it fits. */
    private static NetworkLayer block(String name, int entering, Row row, int stride) {
        List<NetworkLayer> body = new ArrayList<>();
        boolean first = name.equals("block0");
        int inner = first ? entering : entering * EXPANSION;
        if (!first) {
            body.add(conv(name + "_conv0", inner, 1));
        }
        body.add(conv(name + "_conv1", inner, row.size).stride(stride).depthwise());
        body.add(conv(name + "_conv2", row.channels, 1).activation(Activation.NONE));
        Chain chain = new Chain(name, body);
        return stride == 1 && entering == row.channels
                ? new Residual(name, chain, Chain.of(name + "_shortcut"), Activation.NONE)
                : chain;
    }

    private static Conv conv(String name, int channels, int size) {
        return Conv.of(name, channels, size).border(Border.SAME).activation(Activation.RELU6);
    }
}
