package org.gramian.linear;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * How much a covariance is to be shrunk: {@code γ = min(1, b²/a²)}, with {@code a² = ‖S − νI‖²} and b² an estimate of the
 * squared error of S (Ledoit and Wolf: A Well-conditioned Estimator for Large-dimensional Covariance Matrices, Journal of
 * Multivariate Analysis 88, 2004).
 *
 * <p>Independent are not rows but groups g of them, {@code A_g = Σ_{i∈g} x_i x_iᵀ}, so the error is that of a sum of groups:
 *
 * <pre>{@code b² = (1/n²) Σ_g ‖A_g − n_g S‖² = (1/n²) Σ_g (Σ_{i,j∈g} (x_i·x_j)² − 2 n_g Σ_{i∈g} x_i·S x_i + n_g² ‖S‖²)}</pre>
 *
 * <p>which for groups of one row each is the paper's. Crops of one image would otherwise pass for as many images, and
 * hardly anything would be shrunk.
 */
final class Shrinkage {
    private Shrinkage() {}

    static double of(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
        double variance = covariance.variance();
        double norm = covariance.squaredNorm();
        double far = norm - rows.size() * variance * variance;
        if (!(far > 1e-12 * norm)) {
            return 1; // a multiple of the identity already, or 0
        }
        double[] along = along(rows, centred, covariance);
        double[] lengths = lengths(rows, centred, covariance);
        double error = 0;
        for (List<Integer> group : groups(rows)) {
            double sum = group.stream().mapToDouble(i -> along[i]).sum();
            error += squares(group, lengths, centred, covariance)
                    - 2 * group.size() * sum
                    + (double) group.size() * group.size() * norm;
        }
        double n = rows.count();
        return Math.clamp(error / (n * n) / far, 0, 1);
    }

    private static Collection<List<Integer>> groups(LabelledRows rows) {
        TreeMap<Integer, List<Integer>> groups = new TreeMap<>();
        for (int i = 0; i < rows.count(); i++) {
            groups.computeIfAbsent(rows.group(i), _ -> new ArrayList<>()).add(i);
        }
        return groups.values();
    }

    /** {@code x_i·S x_i} of every row. */
    private static double[] along(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
        double[] along = new double[rows.count()];
        try (Scope _ = Scope.open()) {
            Tensor matrix = covariance.matrix();
            if (covariance.products()) {
                double[] sums =
                        Reductions.sum(Elementwise.mul(matrix, matrix), 1).toDoubles();
                System.arraycopy(sums, 0, along, 0, sums.length);
            } else {
                centred.eachRows((block, from, _) -> {
                    double[] sums = Reductions.sum(Elementwise.mul(Products.matmul(block, matrix), block), 1)
                            .toDoubles();
                    System.arraycopy(sums, 0, along, Math.toIntExact(from), sums.length);
                });
            }
        }
        for (int i = 0; i < along.length; i++) {
            along[i] /= rows.count();
        }
        return along;
    }

    /** {@code x_i·x_i} of every row. */
    private static double[] lengths(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
        if (covariance.products()) {
            return Views.diagonal(covariance.matrix()).toDoubles();
        }
        double[] lengths = new double[rows.count()];
        centred.eachRows((block, from, _) -> {
            double[] sums = Reductions.sum(Elementwise.mul(block, block), 1).toDoubles();
            System.arraycopy(sums, 0, lengths, Math.toIntExact(from), sums.length);
        });
        return lengths;
    }

    /** {@code Σ_{i,j} (x_i·x_j)²} within a group. */
    private static double squares(
            List<Integer> group, double[] lengths, CentredRows centred, PooledCovariance covariance) {
        if (group.size() == 1) { // the most common, by far
            return lengths[group.getFirst()] * lengths[group.getFirst()];
        }
        try (Scope _ = Scope.open()) {
            int[] places = group.stream().mapToInt(Integer::intValue).toArray();
            Tensor products;
            if (covariance.products()) {
                Tensor index = centred.index(places);
                products = Views.select(Views.select(covariance.matrix(), 0, index), 1, index);
            } else {
                Tensor some = centred.some(places);
                products = Products.matmul(some, Views.transpose(some));
            }
            return Reductions.sum(Elementwise.mul(products, products)).item();
        }
    }
}
