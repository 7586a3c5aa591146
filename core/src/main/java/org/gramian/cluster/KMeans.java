package org.gramian.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Centres that rows lie close to: {@code min_C Σ_i min_k ‖x_i − c_k‖²} by Lloyd's iteration.
 *
 * <p>It begins with k-means++, assigns every row to the nearest centre by {@code argmax_k 2⟨x, c_k⟩ − ‖c_k‖²}, one matrix
 * product per chunk of rows, and moves every centre to the mean of its rows, until no assignment changes or the bound is
 * reached. A cluster that no row is assigned to begins again at the row that is farthest from its centre, the next such
 * cluster at the second farthest.
 *
 * <p>S. Lloyd: Least Squares Quantization in PCM, IEEE Transactions on Information Theory 28, 1982; D. Arthur, S.
 * Vassilvitskii: k-means++: The Advantages of Careful Seeding, SODA 2007.
 *
 * @param clusters k
 * @param mostIterations bound on how often all rows are assigned
 */
public record KMeans(int clusters, int mostIterations) {
    /** Vocabularies change little after a few dozen. */
    public static final int USUAL_ITERATIONS = 50;

    public KMeans {
        if (clusters < 1 || mostIterations < 1) {
            throw new IllegalArgumentException("k-means: expected at least 1 cluster and 1 iteration, found " + clusters
                    + " and " + mostIterations);
        }
    }

    /** With the usual bound on iterations. */
    public static KMeans of(int clusters) {
        return new KMeans(clusters, USUAL_ITERATIONS);
    }

    /** The centre of each row, {@code [n]}, and the squared distance to it, {@code [n, 1]}. */
    private record Assigned(Tensor labels, Tensor distances) {}

    /**
     * Finds the centres of rows {@code [n, d]}.
     *
     * @throws IllegalArgumentException if there are fewer distinct rows than clusters
     */
    public Clusters fit(Tensor rows, RandomGenerator random) {
        try (Scope scope = Scope.open()) {
            Rows data = Rows.of("k-means", rows);
            Tensor lengths = data.squaredLengths();
            Tensor centres = new Seeding(data, lengths).centres(clusters, random);
            Assigned assigned = assign(data, lengths, centres);
            long[] labels = assigned.labels.toLongs();
            boolean settled = false;
            int iteration = 1;
            while (!settled && iteration < mostIterations) {
                try (Scope inner = Scope.open()) {
                    centres = inner.keep(means(data, assigned));
                    Assigned next = assign(data, lengths, centres);
                    assigned = new Assigned(inner.keep(next.labels), inner.keep(next.distances));
                }
                long[] former = labels;
                labels = assigned.labels.toLongs();
                settled = Arrays.equals(labels, former);
                iteration++;
            }
            return new Clusters(
                    scope.keep(Elementwise.add(centres, data.mean())),
                    scope.keep(assigned.labels),
                    Reductions.sum(assigned.distances).item(),
                    iteration,
                    settled);
        }
    }

    private static Assigned assign(Rows data, Tensor lengths, Tensor centres) {
        Tensor turned = Elementwise.mul(Views.transpose(centres), 2);
        Tensor offsets = Views.transpose(Rows.squares(centres)); // [1, k]
        List<Tensor> labels = new ArrayList<>();
        List<Tensor> scores = new ArrayList<>();
        for (Tensor chunk : data.chunks()) {
            try (Scope scope = Scope.open()) {
                Reductions.Largest nearest =
                        Reductions.largest(Elementwise.sub(Products.matmul(chunk, turned), offsets), 1);
                scores.add(scope.keep(nearest.values()));
                labels.add(scope.keep(nearest.places()));
            }
        }
        Tensor distances = Elementwise.relu(Elementwise.sub(lengths, Views.concat(scores, 0)));
        return new Assigned(Views.reshape(Views.concat(labels, 0), data.count()), distances);
    }

    /** The means of all clusters {@code [k, d]}; those without rows are put on rows that are far from their centres. */
    private Tensor means(Rows data, Assigned assigned) {
        Tensor unit =
                Tensors.identity(clusters, data.centred().type(), data.centred().device());
        Tensor sums = data.zeros(clusters, data.width());
        Tensor counts = data.zeros(clusters, 1);
        long start = 0;
        for (Tensor chunk : data.chunks()) {
            try (Scope _ = Scope.open()) {
                Tensor labels = Views.slice(assigned.labels, 0, start, start + chunk.size(0));
                Tensor members = Views.select(unit, 0, labels); // [chunk, k], one 1 in each row
                sums.copyFrom(Elementwise.add(sums, Products.matmul(Views.transpose(members), chunk)));
                counts.copyFrom(Elementwise.add(counts, Views.transpose(Reductions.sum(members, 0))));
                start += chunk.size(0);
            }
        }
        Tensor means = Elementwise.div(sums, Elementwise.atLeast(counts, 1));
        putEmptyOnFarRows(means, counts.toDoubles(), data, assigned.distances.toDoubles());
        return means;
    }

    private static void putEmptyOnFarRows(Tensor means, double[] counts, Rows data, double[] distances) {
        for (int k = 0; k < counts.length; k++) {
            if (counts[k] == 0) {
                int farthest = 0;
                for (int i = 1; i < distances.length; i++) {
                    farthest = distances[i] > distances[farthest] ? i : farthest;
                }
                distances[farthest] = 0; // the next one begins elsewhere
                Views.slice(means, 0, k, k + 1L).copyFrom(data.row(farthest));
            }
        }
    }

    /** Squared distances {@code [n, k]} of rows {@code [n, d]} to centres {@code [k, d]}, never below 0. */
    public static Tensor squaredDistances(Tensor rows, Tensor centres) {
        try (Scope scope = Scope.open()) {
            Tensor origin = Elementwise.mul(Reductions.sum(centres, 0), 1.0 / centres.size(0));
            Tensor x = Elementwise.sub(rows, origin);
            Tensor c = Elementwise.sub(centres, origin);
            Tensor products = Products.matmul(x, Elementwise.mul(Views.transpose(c), -2));
            Tensor lengths = Elementwise.add(Rows.squares(x), Views.transpose(Rows.squares(c)));
            return scope.keep(Elementwise.relu(Elementwise.add(products, lengths)));
        }
    }
}
