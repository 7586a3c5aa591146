package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Window;

/**
 * The convolutional part of VGG-16 (Simonyan and Zisserman, 2015), conv1_1 to conv5_3, with He-like weights, and a batch
 * of pictures.
 *
 * @param pictures {@code [n, 3, s, s]}
 * @param weights of the 13 convolutions, {@code [k, c, 3, 3]}
 * @param biases of the 13 convolutions
 */
record Vgg(Tensor pictures, List<Tensor> weights, List<Tensor> biases) {
    static final Convolution CONVOLUTION = new Convolution(1, 1, 1);
    static final Window POOL = Window.of(2, 2);

    /** Channels of each convolution as multiples of the first one's; 0 is a max pooling. */
    static final List<Integer> LAYERS = List.of(1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8);

    static Vgg of(TaskSpec spec) {
        Device device = spec.device();
        int side = spec.number("side");
        List<Tensor> weights = new ArrayList<>();
        List<Tensor> biases = new ArrayList<>();
        int entering = 3;
        for (int multiple : LAYERS) {
            if (multiple > 0) {
                int leaving = multiple * spec.number("width");
                int seed = 10 + weights.size();
                double bound = Math.sqrt(6.0 / (9 * entering));
                weights.add(Pattern.uniform(Shape.of(leaving, entering, 3, 3), seed, bound, device));
                biases.add(Pattern.uniform(Shape.of(leaving), seed + 20, 0.1, device));
                entering = leaving;
            }
        }
        return new Vgg(Pattern.uniform(Shape.of(spec.number("batch"), 3, side, side), 1, 1, device), weights, biases);
    }
}
