package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.FeatureMaps.ResponseNorm;
import org.gramian.backbone.NetworkLayer.Branches;
import org.gramian.backbone.NetworkLayer.Chain;
import org.gramian.backbone.NetworkLayer.Dense;
import org.gramian.backbone.NetworkLayer.Pool;
import org.gramian.backbone.NetworkLayer.ResponseNormalization;
import org.gramian.tensor.Activation;

/**
 * GoogLeNet (table 1) in the variant of the BVLC Caffe model zoo: pooling rounds up, responses are normalized twice, and
 * the two auxiliary classifiers are left out.
 *
 * <p>Szegedy et al., <i>Going Deeper with Convolutions</i>, CVPR 2015. Layers and parameters go by Caffe's names; {@code pool5}
 * is the mean of each map, which at 224×224 is the 7×7 window of the paper, and {@code logits} has the parameters {@code
 * loss3/classifier}.
 */
final class GoogLeNet {
    private static final ResponseNorm NORM = new ResponseNorm(5, 1e-4, 0.75, 1);

    private GoogLeNet() {}

    static List<NetworkLayer> stages() {
        return List.of(
                Conv.of("conv1/7x7_s2", 64, 7).stride(2),
                halving("pool1/3x3_s2"),
                new ResponseNormalization("pool1/norm1", NORM),
                Conv.of("conv2/3x3_reduce", 64, 1),
                Conv.of("conv2/3x3", 192, 3),
                new ResponseNormalization("conv2/norm2", NORM),
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

    private static NetworkLayer halving(String name) {
        return Pool.max(name, 3, 2).roundedUp();
    }

    /** A row of the table: 1×1, 3×3 reduce, 3×3, 5×5 reduce, 5×5, pool projection. */
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
}
