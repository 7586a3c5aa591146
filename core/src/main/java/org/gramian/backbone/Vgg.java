package org.gramian.backbone;

import java.util.ArrayList;
import java.util.List;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Dense;
import org.gramian.backbone.NetworkLayer.Pool;
import org.gramian.tensor.Activation;

/**
 * VGG-16 and VGG-19: 3×3 convolutions in five groups, halved by maximum pooling after each (table 1, columns D and E).
 *
 * <p>Simonyan and Zisserman, <i>Very Deep Convolutional Networks for Large-Scale Image Recognition</i>, ICLR 2015. Layers
 * {@code conv1_1}, …, {@code pool5}, {@code fc6}, {@code fc7}, {@code logits} (parameters {@code fc8}); the fully connected
 * ones fit images of 224×224 only. Dropout does nothing outside of the authors' own training and is left out.
 */
final class Vgg {
    private static final int[] WIDTHS = {64, 128, 256, 512, 512};
    private static final int SIDE_OF_POOL5 = 7;

    private Vgg() {}

    static List<NetworkLayer> sixteen() {
        return stages(2, 2, 3, 3, 3);
    }

    static List<NetworkLayer> nineteen() {
        return stages(2, 2, 4, 4, 4);
    }

    private static List<NetworkLayer> stages(int... convolutions) {
        List<NetworkLayer> stages = new ArrayList<>();
        for (int group = 1; group <= WIDTHS.length; group++) {
            for (int i = 1; i <= convolutions[group - 1]; i++) {
                stages.add(Conv.of("conv" + group + "_" + i, WIDTHS[group - 1], 3));
            }
            stages.add(Pool.max("pool" + group, 2, 2));
        }
        stages.add(new Dense("fc6", 4096, SIDE_OF_POOL5, Activation.RELU));
        stages.add(new Dense("fc7", 4096, 1, Activation.RELU));
        stages.add(Chain.of(Backbone.LOGITS, new Dense("fc8", 1000, 1, Activation.NONE)));
        return stages;
    }
}
