package org.gramian.train.loop;

import java.util.Arrays;
import java.util.function.Function;
import org.gramian.basis.EvenSample;
import org.gramian.model.Model;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;

/**
 * How long the descriptors {@code v} are that a model begins with, which decides how large the classifier's steps may be.
 *
 * <p>A step of rate λ on one example moves the score of a linear classifier by {@code λ·(p − y)·(‖v‖² + 1)}. What tells classes
 * apart is where descriptors lie about their mean m, so with {@code λ = 1/mean ‖v − m‖²} scores of descriptors of any length
 * move as those of length 1 do with a rate of 1. But what all descriptors share bounds the rate as well: gradient descent with
 * momentum β diverges beyond {@code 2(1 + β)/L} (Polyak 1964), and the cross-entropy of a linear classifier has {@code L ≤
 * ‖v‖²/2}.
 */
final class DescriptorLength {
    /** Crops that are looked at, of images spread over all classes. */
    private static final int CROPS = 64;

    private DescriptorLength() {}

    /**
     * The rate at which descriptors of this length do what those of length 1 do at a rate of 1; 1 if they have no length.
     *
     * @param count of all rows
     * @param rows gives features at some places
     * @param momentum β of the steps to come
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
