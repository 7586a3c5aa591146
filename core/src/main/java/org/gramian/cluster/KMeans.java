package org.gramian.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * k-means clustering, {@code min_C Σ_i min_k ‖x_i − c_k‖²}, by Lloyd's algorithm with k-means++ initialization.
 *
 * <p>Each iteration assigns every row to the nearest centre by {@code argmax_k 2⟨x, c_k⟩ − ‖c_k‖²}, one matrix product
 * per chunk of rows, and moves every centre to the mean of its rows, until no assignment changes or the limit is
 * reached. An empty cluster restarts at the row farthest from its centre, the next one at the second farthest.
 *
 * <p>S. Lloyd: Least Squares Quantization in PCM, IEEE Transactions on Information Theory 28, 1982; D. Arthur, S.
 * Vassilvitskii: k-means++: The Advantages of Careful Seeding, SODA 2007.
 */
public record KMeans(int clusters, int mostIterations) {
    private static final int DEFAULT_ITERATIONS = 50;

    public KMeans {
        if (clusters < 1 || mostIterations < 1) {
            throw new IllegalArgumentException("k-means: expected at least 1 cluster and 1 iteration, found " + clusters
                    + " and " + mostIterations);
        }
    }

    public static KMeans of(int clusters) {
        return new KMeans(clusters, DEFAULT_ITERATIONS);
    }

    /** Centre of each row {@code [n]} and the squared distance to it {@code [n, 1]}. */
    private record Assignment(Tensor labels, Tensor distances) {}

    /**
     * Clusters rows: rows {@code [n, d]}.
     *
     * @throws IllegalArgumentException if there are fewer distinct rows than clusters
     */
    public Clusters fit(Tensor rows, RandomGenerator random) {
        try (Scope scope = Scope.open()) {
            ChunkedRows data = ChunkedRows.of("k-means", rows);
            Tensor lengths = data.squaredLengths();
            Tensor centres = new Seeding(data, lengths).centres(clusters, random);
            Assignment assigned = assign(data, lengths, centres);
            long[] labels = assigned.labels.toLongs();
            boolean converged = false;
            int iteration = 1;
            while (!converged && iteration < mostIterations) {
                try (Scope inner = Scope.open()) {
                    centres = inner.keep(means(data, assigned));
                    Assignment next = assign(data, lengths, centres);
                    assigned = new Assignment(inner.keep(next.labels), inner.keep(next.distances));
                }
                long[] former = labels;
                labels = assigned.labels.toLongs();
                converged = Arrays.equals(labels, former);
                iteration++;
            }
            return new Clusters(
                    scope.keep(centres.add(data.mean())),
                    scope.keep(assigned.labels),
                    assigned.distances.sum().item(),
                    iteration,
                    converged);
        }
    }

    private static Assignment assign(ChunkedRows data, Tensor lengths, Tensor centres) {
        Tensor turned = centres.transpose().mul(2);
        Tensor offsets = ChunkedRows.squares(centres).transpose(); // [1, k]
        List<Tensor> labels = new ArrayList<>();
        List<Tensor> scores = new ArrayList<>();
        data.forEach((chunk, _, scope) -> {
            Tensor.Largest nearest = chunk.matmul(turned).sub(offsets).largest(1);
            scores.add(scope.keep(nearest.values()));
            labels.add(scope.keep(nearest.indices()));
        });
        Tensor distances = lengths.sub(Tensors.concat(scores, 0)).relu();
        return new Assignment(Tensors.concat(labels, 0).reshape(data.count()), distances);
    }

    /** Computes the means of all clusters {@code [k, d]}; empty clusters move to rows far from their centres. */
    private Tensor means(ChunkedRows data, Assignment assigned) {
        Tensor unit =
                Tensors.identity(clusters, data.centred().type(), data.centred().device());
        Tensor sums = data.zeros(clusters, data.width());
        Tensor counts = data.zeros(clusters, 1);
        data.forEach((chunk, start, _) -> {
            Tensor labels = assigned.labels.slice(0, start, start + chunk.size(0));
            Tensor members = unit.select(0, labels); // [chunk, k], one 1 in each row
            sums.copyFrom(sums.add(members.transpose().matmul(chunk)));
            counts.copyFrom(counts.add(members.sum(0).transpose()));
        });
        Tensor means = sums.div(counts.atLeast(1));
        double[] sizes = counts.toDoubles();
        double[] distances = assigned.distances.toDoubles();
        for (int k = 0; k < clusters; k++) {
            if (sizes[k] == 0) {
                int farthest = 0;
                for (int i = 1; i < distances.length; i++) {
                    farthest = distances[i] > distances[farthest] ? i : farthest;
                }
                distances[farthest] = 0; // the next one restarts elsewhere
                means.slice(0, k, k + 1L).copyFrom(data.row(farthest));
            }
        }
        return means;
    }

    /** Computes squared distances {@code [n, k]} of rows {@code [n, d]} to centres {@code [k, d]}, at least 0. */
    public static Tensor squaredDistances(Tensor rows, Tensor centres) {
        try (Scope scope = Scope.open()) {
            Tensor origin = centres.sum(0).mul(1.0 / centres.size(0));
            Tensor x = rows.sub(origin);
            Tensor c = centres.sub(origin);
            Tensor products = x.matmul(c.transpose().mul(-2));
            Tensor lengths = ChunkedRows.squares(x).add(ChunkedRows.squares(c).transpose());
            return scope.keep(products.add(lengths).relu());
        }
    }

    /**
     * k-means++ initialization: draws rows one by one with probability proportional to the squared distance to the
     * nearest row drawn before.
     *
     * @param lengths squared norms {@code [n, 1]}
     */
    private record Seeding(ChunkedRows data, Tensor lengths) {
        /** Squared distances below this many rounding errors of the squared norms count as 0. */
        private static final double ROUNDINGS = 64;

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
                    nearest = exactly(chosen); // with an outlier, different rows look equal in float32
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
            return Tensors.concat(chosen, 0);
        }

        private void narrow(double[] nearest, double[] own, long place, boolean first) {
            try (Scope _ = Scope.open()) {
                Tensor column = data.row(place).transpose().mul(2);
                double[] products = data.centred().matmul(column).toDoubles();
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

        /** Computes squared distances to the nearest centre from differences: slower, but 0 for equal rows only. */
        private double[] exactly(List<Tensor> centres) {
            double[] nearest = new double[Math.toIntExact(data.count())];
            Arrays.fill(nearest, Double.POSITIVE_INFINITY);
            for (Tensor centre : centres) {
                try (Scope _ = Scope.open()) {
                    double[] distances = data.mapChunks(chunk -> ChunkedRows.squares(chunk.sub(centre)))
                            .toDoubles();
                    Arrays.setAll(nearest, i -> Math.min(nearest[i], distances[i]));
                }
            }
            return nearest;
        }

        /** Draws an index with probability proportional to its weight; −1 if all weights are 0. */
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

    /** The result of {@link KMeans}: centres {@code [k, d]}. */
    public record Clusters(Tensor centres, Tensor labels, double inertia, int iterations, boolean converged) {}
}
