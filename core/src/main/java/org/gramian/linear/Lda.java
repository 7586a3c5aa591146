package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Regularized linear discriminant analysis: Bayes' rule for Gaussian classes of one covariance,
 *
 * <pre>{@code
 * z_k = v·Σ⁻¹μ_k − ½ μ_k·Σ⁻¹μ_k + log π_k
 * Σ   = (1 − γ) S + γ ν I,   S = (1/n) Σ_i (x_i − μ(y_i))(x_i − μ(y_i))ᵀ,   ν = tr S / d
 * }</pre>
 *
 * <p>about the mean of all rows, with {@code π_k} proportional to the weight of the rows of class k. An unset γ is that of {@link
 * Shrinkage} (Ledoit and Wolf, 2004). With {@code γ = 1} and equal π it is {@link NearestMean}. If S is 0, ν is 1.
 *
 * <p>On vectors of matrix logarithms it is LDA in the tangent space (Barachant et al., IEEE TBME 59, 2012; Friedman:
 * Regularized Discriminant Analysis, JASA 84, 1989).
 *
 * <p>If {@code d > n}, Σ is never built: with the centred rows X {@code [n, d]}, by Woodbury's identity
 * {@code Σ⁻¹M = (M − Xᵀ(XXᵀ + nγν/(1−γ) I)⁻¹XM)/(γν)}.
 *
 * @param shrinkage γ, from 0 to 1; empty to choose it
 */
public record Lda(OptionalDouble shrinkage) implements LinearSolver {
    static final String WORD = "lda";
    static final String FORM =
            "lda[:shrinkage=NUMBER|auto]: linear discriminant analysis, its covariance shrunk towards a multiple of"
                    + " the identity";

    private static final long MOST_SIDE = 12_000;

    public Lda {
        if (shrinkage.isPresent() && !(shrinkage.getAsDouble() >= 0 && shrinkage.getAsDouble() <= 1)) {
            throw new IllegalArgumentException(
                    "the argument shrinkage of lda must be a number from 0 to 1 or auto, found "
                            + SolverText.decimal(shrinkage.getAsDouble()));
        }
    }

    @Override
    public String text() {
        return SolverText.write(WORD, "shrinkage", shrinkage);
    }

    @Override
    public void requireRoom(long rows, long size) {
        MemoryBound.requireRows(WORD, rows, size);
        MemoryBound.requireSquare(WORD, rows, size, MOST_SIDE, Double.BYTES);
    }

    @Override
    public long bytes(long rows, long size) {
        long side = Math.min(rows, size);
        return 2 * Float.BYTES * rows * size
                + 4 * Double.BYTES * side * side; // matrix, shifted, factor, and single precision
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        watch.at("class covariance", 0, 1);
        try (Scope scope = Scope.open()) {
            CentredRows centred = CentredRows.aroundClassMeans(rows);
            Tensor centre = CentredRows.aroundMean(rows).centres();
            Tensor means = centred.centres().sub(centre);
            PooledCovariance covariance = PooledCovariance.of(rows, centred);
            double gamma = shrinkage.orElseGet(() -> Shrinkage.of(rows, centred, covariance));
            watch.at("fitting lda", 0, 1);
            double[] prior = new double[rows.classes()];
            Arrays.setAll(prior, label -> rows.count(label) * rows.weight(label));
            return model(centre, means, covariance, gamma, prior).keptBy(scope);
        }
    }

    /**
     * Solves for weight and bias from sums over the rows, without calibration.
     *
     * @throws UnsolvableException if the covariance is singular
     */
    public LinearModel fit(ClassStatistics sums) {
        try (Scope scope = Scope.open()) {
            PooledCovariance covariance = new PooledCovariance(null, sums.count(), sums.size(), sums.scatterMatrix());
            // Σ_i x_i·S x_i = n ‖S‖², so that Σ_g ‖A_g − m S‖² = Σ_g ‖A_g‖² − n m ‖S‖² for groups of m rows
            double gamma = shrinkage.orElseGet(() -> Shrinkage.of(
                    covariance, norm -> sums.groupSquares() - (double) sums.count() * sums.groupSize() * norm));
            double[] prior = new double[sums.counts().length];
            Arrays.setAll(prior, label -> sums.counts()[label] * sums.weights()[label]);
            return model(sums.centre(), sums.centredMeans(), covariance, gamma, prior)
                    .keptBy(scope);
        }
    }

    private static LinearModel model(
            Tensor centre, Tensor means, PooledCovariance covariance, double gamma, double[] prior) {
        Tensor weight = covariance.solve(means, gamma);
        SequencedMap<String, Double> found = new LinkedHashMap<>();
        found.put("shrinkage", gamma);
        double[] bias = means.to(DType.F64).mul(weight.to(DType.F64)).sum(1).toDoubles();
        double all = 0;
        for (double share : prior) {
            all += share;
        }
        for (int label = 0; label < bias.length; label++) {
            bias[label] = Math.log(prior[label] / all) - bias[label] / 2;
        }
        return LinearModel.around(centre, weight, bias, found);
    }

    /**
     * Shrinkage of a covariance: {@code γ = min(1, b²/a²)}, with {@code a² = ‖S − νI‖²} and b² an estimate
     * of the squared error of S (Ledoit and Wolf: A Well-conditioned Estimator for Large-dimensional Covariance
     * Matrices, Journal of Multivariate Analysis 88, 2004).
     *
     * <p>Groups g of rows are independent, rows are not; with {@code A_g = Σ_{i∈g} x_i x_iᵀ}
     *
     * <pre>{@code
     * b² = (1/n²) Σ_g ‖A_g − n_g S‖²
     *    = (1/n²) Σ_g (Σ_{i,j∈g} (x_i·x_j)² − 2 n_g Σ_{i∈g} x_i·S x_i + n_g² ‖S‖²)
     * }</pre>
     *
     * <p>which is the formula of the paper for groups of one row. Else crops of one image would count as independent images, and γ
     * would be too small.
     */
    private static final class Shrinkage {
        private Shrinkage() {}

        static double of(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
            return of(covariance, norm -> {
                double[] along = along(rows, centred, covariance);
                double[] lengths = lengths(rows, centred, covariance);
                double error = 0;
                for (List<Integer> group : groups(rows)) {
                    double sum = group.stream().mapToDouble(i -> along[i]).sum();
                    error += squares(group, lengths, centred, covariance)
                            - 2 * group.size() * sum
                            + (double) group.size() * group.size() * norm;
                }
                return error;
            });
        }

        /** Returns the shrinkage from {@code Σ_g ‖A_g − n_g S‖²}, a function of {@code ‖S‖²}. */
        static double of(PooledCovariance covariance, DoubleUnaryOperator error) {
            double variance = covariance.variance();
            double norm = covariance.squaredNorm();
            double far = norm - covariance.size() * variance * variance;
            if (!(far > 1e-12 * norm)) {
                return 1; // a multiple of the identity already, or 0
            }
            double n = covariance.count();
            return Math.clamp(error.applyAsDouble(norm) / (n * n) / far, 0, 1);
        }

        private static Collection<List<Integer>> groups(LabelledRows rows) {
            TreeMap<Integer, List<Integer>> groups = new TreeMap<>();
            for (int i = 0; i < rows.count(); i++) {
                groups.computeIfAbsent(rows.group(i), _ -> new ArrayList<>()).add(i);
            }
            return groups.values();
        }

        /** Returns {@code x_i·S x_i} of every row. */
        private static double[] along(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
            double[] along = new double[rows.count()];
            try (Scope _ = Scope.open()) {
                Tensor matrix = covariance.matrix();
                if (covariance.products()) {
                    double[] sums = matrix.mul(matrix).sum(1).toDoubles();
                    System.arraycopy(sums, 0, along, 0, sums.length);
                } else {
                    centred.eachRows((block, from, _) -> {
                        double[] sums = block.matmul(matrix).mul(block).sum(1).toDoubles();
                        System.arraycopy(sums, 0, along, Math.toIntExact(from), sums.length);
                    });
                }
            }
            for (int i = 0; i < along.length; i++) {
                along[i] /= rows.count();
            }
            return along;
        }

        /** Returns {@code x_i·x_i} of every row. */
        private static double[] lengths(LabelledRows rows, CentredRows centred, PooledCovariance covariance) {
            if (covariance.products()) {
                return covariance.matrix().diagonal().toDoubles();
            }
            double[] lengths = new double[rows.count()];
            centred.eachRows((block, from, _) -> {
                double[] sums = block.mul(block).sum(1).toDoubles();
                System.arraycopy(sums, 0, lengths, Math.toIntExact(from), sums.length);
            });
            return lengths;
        }

        /** Returns {@code Σ_{i,j} (x_i·x_j)²} within a group. */
        private static double squares(
                List<Integer> group, double[] lengths, CentredRows centred, PooledCovariance covariance) {
            if (group.size() == 1) {
                return lengths[group.getFirst()] * lengths[group.getFirst()];
            }
            try (Scope _ = Scope.open()) {
                int[] places = group.stream().mapToInt(Integer::intValue).toArray();
                Tensor products;
                if (covariance.products()) {
                    Tensor index = centred.index(places);
                    products = covariance.matrix().select(0, index).select(1, index);
                } else {
                    Tensor some = centred.some(places);
                    products = some.matmul(some.transpose());
                }
                return products.mul(products).sum().item();
            }
        }
    }

    /**
     * Covariance of rows about the means of their classes, {@code S = XᵀX/n}, in the smaller of two forms.
     *
     * @param rows X {@code [n, d]} if the matrix is {@code XXᵀ [n, n]}; null if it is {@code XᵀX [d, d]}
     * @param count n
     * @param size d
     * @param matrix one of the two, float64
     */
    private record PooledCovariance(@Nullable CentredRows rows, double count, long size, Tensor matrix) {
        static PooledCovariance of(LabelledRows rows, CentredRows centred) {
            boolean products = rows.size() > rows.count();
            return new PooledCovariance(
                    products ? centred : null,
                    rows.count(),
                    rows.size(),
                    products ? centred.gram().to(DType.F64) : centred.scatter());
        }

        boolean products() {
            return rows != null;
        }

        /** Returns the mean variance ν; 1 if it is 0. */
        double variance() {
            double trace = matrix.diagonal().sum().item() / count;
            return trace > 0 ? trace / size : 1;
        }

        /** Returns {@code ‖S‖²}: both forms have the same eigenvalues. */
        double squaredNorm() {
            return matrix.mul(matrix).sum().item() / (count * count);
        }

        /**
         * Returns {@code MΣ⁻¹ [k, d]}, float32, for the covariance shrunk by γ.
         *
         * @throws UnsolvableException if it is singular
         */
        Tensor solve(Tensor means, double gamma) {
            double ridge = gamma * variance();
            if (gamma == 1) {
                return means.mul(1 / ridge);
            }
            double shift = count * ridge / (1 - gamma);
            Tensor square = Tensors.identity(matrix.size(0), DType.F64, matrix.device());
            square.mulInPlace(shift);
            Tensor shifted = matrix.add(square);
            if ((products() && ridge == 0) || !Decompositions.isPositiveDefinite(shifted)) {
                throw new UnsolvableException("the covariance of " + (long) count + " rows of length " + size
                        + " with shrinkage " + SolverText.decimal(gamma)
                        + " is singular; use a larger shrinkage, e.g. lda:shrinkage=0.1, or lda, which selects it");
            }
            return rows == null ? directly(shifted, means, gamma) : throughRows(rows, shifted, means, ridge);
        }

        private Tensor directly(Tensor shifted, Tensor means, double gamma) {
            Tensor wanted = means.to(DType.F64).transpose();
            Tensor solved = Decompositions.solve(shifted, wanted);
            Tensor weight = solved.transpose().mul(count / (1 - gamma));
            return weight.to(DType.F32).contiguous();
        }

        private static Tensor throughRows(CentredRows rows, Tensor shifted, Tensor means, double ridge) {
            Tensor right = rows.times(means).to(DType.F64);
            Tensor solved = Decompositions.solve(shifted, right).to(DType.F32);
            Tensor part = rows.combined(solved.transpose().contiguous());
            return means.sub(part).mul(1 / ridge);
        }
    }
}
