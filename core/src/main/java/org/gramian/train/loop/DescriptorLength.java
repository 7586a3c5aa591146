package org.gramian.train.loop;

import java.util.Arrays;
import java.util.function.Function;
import org.gramian.basis.EvenSample;
import org.gramian.model.Model;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;

/**
 * Length of the initial descriptors {@code v} of a model, from which the learning rate of the classifier follows.
 *
 * <p>A step with learning rate λ on one example changes the score of a linear classifier by {@code λ·(p − y)·(‖v‖² + 1)}. Classes
 * differ in the position of descriptors about their mean m, so with {@code λ = 1/mean ‖v − m‖²} scores of descriptors of any
 * length change like those of length 1 with a learning rate of 1. The mean bounds the learning rate as well: gradient descent
 * with momentum β diverges beyond {@code 2(1 + β)/L} (Polyak 1964), and the cross-entropy of a linear classifier has {@code L ≤
 * ‖v‖²/2}.
 */
final class DescriptorLength {
    /** Crops in the sample, of images spread over all classes. */
    private static final int CROPS = 64;

    private DescriptorLength() {}

    /**
     * Returns the learning rate at which these descriptors act like those of length 1 at a learning rate of 1; 1 if their length is 0.
     *
     * @param count rows
     * @param rows returns features at some places
     * @param momentum β of the optimizer
     */
    static double unitRate(Model model, int count, Function<int[], Tensor> rows, double momentum) {
        int[] places = Arrays.stream(EvenSample.places(count, CROPS))
                .mapToInt(Math::toIntExact)
                .toArray();
        double rate = new HeadInference(model, rows).descriptors(places, v -> {
            Tensor mean = Elementwise.mul(Reductions.sum(v, 0), 1.0 / places.length);
            return Math.min(1 / meanSquare(Elementwise.sub(v, mean)), 4 * (1 + momentum) / meanSquare(v));
        });
        return rate > 0 && Double.isFinite(rate) ? rate : 1;
    }

    private static double meanSquare(Tensor rows) {
        return Reductions.sum(Elementwise.mul(rows, rows)).item() / rows.shape().at(0);
    }
}
