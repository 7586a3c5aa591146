package org.gramian.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * The first centres of k-means++: rows drawn one after the other with probability proportional to the squared distance to
 * the nearest row drawn before.
 *
 * @param data centred rows
 * @param lengths their squared lengths, {@code [n, 1]}
 */
record Seeding(Rows data, Tensor lengths) {
    /** Squared distances below this many roundings of the lengths they are the difference of count as 0. */
    private static final double ROUNDINGS = 64;

    /** Distinct rows {@code [k, d]}. */
    Tensor centres(int count, RandomGenerator random) {
        double[] own = lengths.toDoubles();
        double[] nearest = new double[own.length];
        List<Tensor> chosen = new ArrayList<>();
        long place = random.nextLong(own.length);
        chosen.add(data.row(place));
        narrow(nearest, own, place, true);
        while (chosen.size() < count) {
            place = draw(nearest, random);
            if (place < 0) {
                nearest = exactly(chosen); // beside an outlier, rows that differ seem equal in single precision
                place = draw(nearest, random);
            }
            if (place < 0) {
                throw new IllegalArgumentException("k-means: " + count + " clusters need at least as many distinct"
                        + " rows, found " + chosen.size() + " among " + own.length
                        + "; use fewer clusters or words, or more data");
            }
            chosen.add(data.row(place));
            narrow(nearest, own, place, false);
        }
        return Views.concat(chosen, 0);
    }

    /** Takes the distances to one more centre into account. */
    private void narrow(double[] nearest, double[] own, long place, boolean first) {
        try (Scope _ = Scope.open()) {
            Tensor column = Elementwise.mul(Views.transpose(data.row(place)), 2);
            double[] products = Products.matmul(data.centred(), column).toDoubles();
            double centre = own[(int) place];
            for (int i = 0; i < own.length; i++) {
                double square = own[i] + centre - products[i];
                boolean same = square <= ROUNDINGS * data.rounding() * (own[i] + centre);
                double distance = same ? 0 : square;
                nearest[i] = first ? distance : Math.min(nearest[i], distance);
            }
            nearest[(int) place] = 0;
        }
    }

    /** Squared distances to the nearest of some centres, from differences: slower, but exactly 0 for equal rows only. */
    private double[] exactly(List<Tensor> centres) {
        double[] nearest = new double[Math.toIntExact(data.count())];
        Arrays.fill(nearest, Double.POSITIVE_INFINITY);
        for (Tensor centre : centres) {
            try (Scope _ = Scope.open()) {
                double[] distances = data.mapChunks(chunk -> Rows.squares(Elementwise.sub(chunk, centre)))
                        .toDoubles();
                Arrays.setAll(nearest, i -> Math.min(nearest[i], distances[i]));
            }
        }
        return nearest;
    }

    /** A place with probability proportional to its weight; −1 if all weights are 0. */
    private static long draw(double[] weights, RandomGenerator random) {
        double sum = 0;
        for (double weight : weights) {
            sum += weight;
        }
        double rest = random.nextDouble() * sum;
        long last = -1;
        for (int i = 0; i < weights.length; i++) {
            if (weights[i] > 0) {
                last = i;
                rest -= weights[i];
                if (rest < 0) {
                    return i;
                }
            }
        }
        return last; // rounding may leave a rest
    }
}
