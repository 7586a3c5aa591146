package org.gramian.explain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.gramian.explain.Explanation.Parts;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Average;
import org.gramian.pooling.GeneralizedMean;
import org.gramian.pooling.Maximum;
import org.gramian.pooling.Pyramid;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Sum;
import org.gramian.pooling.Weighted;
import org.gramian.spd.Kernel;
import org.gramian.spd.Laplacian;
import org.gramian.spd.Rbf;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * Which pairs of feature maps, or which maps, contribute most to a score: gradient times entry where the parts of a head
 * meet, summed over crops, and over positions where single maps meet.
 */
final class PairRanking {
    private PairRanking() {}

    /** A pair without its map. */
    record Ranked(int first, int second, double contribution) {}

    /** What can be said of the maps that an aggregation sees. */
    static Parts parts(Aggregation aggregation) {
        return switch (aggregation) {
            case SecondOrder _ -> Parts.PAIRS;
            case Average _, Maximum _, Sum _, GeneralizedMean _, Pyramid _, Weighted _ -> Parts.CHANNELS;
            default -> Parts.NONE;
        };
    }

    /** The first so many by the size of their contribution, of the maps or matrices of all crops. */
    static List<Ranked> top(Aggregation aggregation, ScoreGradient.Found found, int count) {
        Tensor products = Elementwise.mul(found.meeting(), found.meetingGradient());
        List<Ranked> all = switch (parts(aggregation)) {
            case PAIRS ->
                pairs(((SecondOrder) aggregation).kernel(), found.maps().size(1), products);
            case CHANNELS -> channels(products);
            case NONE -> List.of();
        };
        return all.stream()
                .sorted(Comparator.comparingDouble((Ranked pair) -> -Math.abs(pair.contribution())))
                .limit(count)
                .toList();
    }

    /** A Gaussian's matrix has one row more than there are maps, their means: no pair of maps, and left out. */
    private static List<Ranked> pairs(Kernel kernel, long maps, Tensor products) {
        double[] sums = Reductions.sum(products, 0).toDoubles();
        int size = Math.toIntExact(products.size(1));
        // Every map equals itself, so that these kernels have the same diagonal for every picture.
        boolean diagonal = !(kernel instanceof Rbf || kernel instanceof Laplacian);
        List<Ranked> all = new ArrayList<>();
        for (int i = 0; i < maps; i++) {
            if (diagonal) {
                all.add(new Ranked(i, i, sums[i * size + i]));
            }
            for (int j = i + 1; j < maps; j++) {
                all.add(new Ranked(i, j, sums[i * size + j] + sums[j * size + i]));
            }
        }
        return all;
    }

    private static List<Ranked> channels(Tensor products) {
        Tensor maps = Views.reshape(
                Views.contiguous(products),
                products.size(0),
                products.size(1),
                products.shape().elements() / (products.size(0) * products.size(1)));
        double[] sums = Reductions.sum(maps, 0, 2).toDoubles();
        List<Ranked> all = new ArrayList<>();
        for (int i = 0; i < sums.length; i++) {
            all.add(new Ranked(i, i, sums[i]));
        }
        return all;
    }
}
