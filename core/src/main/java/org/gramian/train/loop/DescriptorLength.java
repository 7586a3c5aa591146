package org.gramian.train.loop;

import java.util.stream.IntStream;
import org.gramian.model.Model;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.train.feature.FeatureTable;

/**
 * How long the descriptors are that a model begins with, which decides how large its steps may be.
 *
 * <p>A step of rate λ on one example changes the score of a linear classifier by {@code λ·(p − y)·(‖v‖² + 1)}. So with a rate
 * of {@code 1/mean ‖v‖²} scores of descriptors of any length move as those of length 1 do with a rate of 1.
 */
final class DescriptorLength {
    /** Crops that are looked at, of pictures spread over all classes. */
    private static final int CROPS = 64;

    private DescriptorLength() {}

    /** The mean of {@code ‖v‖²} over some training crops; 1 if that is no positive number. */
    static double meanSquare(Model model, FeatureTable table) {
        int count = Math.min(CROPS, table.count());
        int[] places = IntStream.range(0, count)
                .map(i -> (int) ((long) i * table.count() / count))
                .toArray();
        double sum = new HeadRun(model, table)
                .descriptors(places, v -> Reductions.sum(Elementwise.mul(v, v)).item());
        double mean = sum / count;
        return mean > 0 && Double.isFinite(mean) ? mean : 1;
    }
}
