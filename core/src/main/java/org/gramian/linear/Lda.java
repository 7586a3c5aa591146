package org.gramian.linear;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.gramian.basis.NamedArguments;
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
 * <p>about the mean of all rows, with {@code π_k} proportional to the weight of the rows of class k. An unset γ is that of Ledoit
 * and Wolf (2004). With {@code γ = 1} and equal π it is {@link NearestMean}. If S is 0, ν is 1.
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
    public Lda {
        if (shrinkage.isPresent() && !(shrinkage.getAsDouble() >= 0 && shrinkage.getAsDouble() <= 1)) {
            throw new IllegalArgumentException(
                    "the argument shrinkage of lda must be a number from 0 to 1 or auto, found "
                            + NamedArguments.decimal(shrinkage.getAsDouble()));
        }
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
            double gamma =
                    shrinkage.orElseGet(() -> covariance.shrinkage(norm -> covariance.error(rows, centred, norm)));
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
            double gamma = shrinkage.orElseGet(() -> covariance.shrinkage(
                    norm -> sums.groupSquares() - (double) sums.count() * sums.groupSize() * norm));
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
     * Covariance of rows about the means of their classes, {@code S = XᵀX/n}, in the smaller of two forms.
     *
     * @param rows X {@code [n, d]} if the matrix is {@code XXᵀ [n, n]}; null if it is {@code XᵀX [d, d]}
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

        /** Returns the mean variance ν; 1 if it is 0. */
        private double variance() {
            double trace = matrix.diagonal().sum().item() / count;
            return trace > 0 ? trace / size : 1;
        }

        /**
         * Returns {@code γ = min(1, b²/a²)}, with {@code a² = ‖S − νI‖²} and b² an estimate of the squared error of S (Ledoit and Wolf: A
         * Well-conditioned Estimator for Large-dimensional Covariance Matrices, Journal of Multivariate Analysis 88, 2004).
         *
         * @param error {@code n² b²}, a function of {@code ‖S‖²}; see {@link #error}
         */
        double shrinkage(DoubleUnaryOperator error) {
            double variance = variance();
            double norm = matrix.mul(matrix).sum().item() / (count * count); // both forms have the same eigenvalues
            double far = norm - size * variance * variance;
            if (!(far > 1e-12 * norm)) {
                return 1; // a multiple of the identity already, or 0
            }
            return Math.clamp(error.applyAsDouble(norm) / (count * count) / far, 0, 1);
        }

        /**
         * Returns {@code n² b²}. Groups g of rows are independent, rows are not; with {@code A_g = Σ_{i∈g} x_i x_iᵀ}
         *
         * <pre>{@code
         * n² b² = Σ_g ‖A_g − n_g S‖²
         *       = Σ_g (Σ_{i,j∈g} (x_i·x_j)² − 2 n_g Σ_{i∈g} x_i·S x_i + n_g² ‖S‖²)
         * }</pre>
         *
         * <p>which is the formula of the paper for groups of one row. Else crops of one image would count as independent images, and γ
         * would be too small.
         */
        double error(LabelledRows given, CentredRows centred, double norm) {
            double[] along = ofRows(
                    centred,
                    () -> matrix.mul(matrix).sum(1),
                    block -> block.matmul(matrix).mul(block).sum(1));
            double[] lengths =
                    ofRows(centred, matrix::diagonal, block -> block.mul(block).sum(1));
            double error = 0;
            for (int[] group : given.members()) {
                double sum =
                        Arrays.stream(group).mapToDouble(i -> along[i] / count).sum();
                double squares = group.length == 1 ? lengths[group[0]] * lengths[group[0]] : squares(centred, group);
                error += squares - 2 * group.length * sum + (double) group.length * group.length * norm;
            }
            return error;
        }

        /** Computes a number of every row, from the products or from blocks of rows. */
        private double[] ofRows(CentredRows centred, Supplier<Tensor> fromProducts, UnaryOperator<Tensor> fromRows) {
            double[] all = new double[(int) count];
            try (Scope _ = Scope.open()) {
                if (rows != null) {
                    return fromProducts.get().toDoubles();
                }
                centred.eachRows((block, from, _) -> {
                    double[] some = fromRows.apply(block).toDoubles();
                    System.arraycopy(some, 0, all, Math.toIntExact(from), some.length);
                });
            }
            return all;
        }

        /** Returns {@code Σ_{i,j} (x_i·x_j)²} within a group. */
        private double squares(CentredRows centred, int[] group) {
            try (Scope _ = Scope.open()) {
                Tensor inner;
                if (rows != null) {
                    Tensor index = centred.index(group);
                    inner = matrix.select(0, index).select(1, index);
                } else {
                    Tensor some = centred.some(group);
                    inner = some.matmul(some.transpose());
                }
                return inner.mul(inner).sum().item();
            }
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
            if ((rows != null && ridge == 0) || !Decompositions.isPositiveDefinite(shifted)) {
                throw new UnsolvableException("the covariance of " + (long) count + " rows of length " + size
                        + " with shrinkage " + NamedArguments.decimal(gamma)
                        + " is singular; use a larger shrinkage, e.g. lda:shrinkage=0.1, or lda, which selects it");
            }
            if (rows == null) {
                Tensor solved =
                        Decompositions.solve(shifted, means.to(DType.F64).transpose());
                return solved.transpose().mul(count / (1 - gamma)).to(DType.F32).contiguous();
            }
            Tensor right = rows.times(means).to(DType.F64);
            Tensor solved = Decompositions.solve(shifted, right).to(DType.F32);
            Tensor part = rows.combined(solved.transpose().contiguous());
            return means.sub(part).mul(1 / ridge);
        }
    }
}
