package org.gramian.linear;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.DoubleSupplier;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.basis.NamedArguments;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

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
 * <p>If {@code d > n}, Σ is never built; see {@link DualLda}.
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

    /** Keeps the ridge away from 0, where the dual form has no solution. */
    private static final double LEAST_SHRINKAGE = 1e-6;

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        watch.at("class covariance", 0, 1);
        try (Scope scope = Scope.open()) {
            return (rows.size() > rows.count() ? dual(rows, watch) : primal(rows, watch)).keptBy(scope);
        }
    }

    private LinearModel primal(LabelledRows rows, SolverListener watch) {
        CentredRows centred = CentredRows.aroundClassMeans(rows);
        Tensor centre = CentredRows.aroundMean(rows).centres();
        Tensor means = centred.centres().sub(centre);
        PooledCovariance covariance = new PooledCovariance(rows.count(), rows.size(), centred.scatter());
        double gamma = shrinkage.orElseGet(() -> covariance.shrinkage(norm -> covariance.error(rows, centred, norm)));
        watch.at("fitting lda", 0, 1);
        double[] prior = new double[rows.classes()];
        Arrays.setAll(prior, label -> rows.count(label) * rows.weight(label));
        return model(centre, means, covariance, gamma, prior);
    }

    private LinearModel dual(LabelledRows rows, SolverListener watch) {
        CentredRows centred = CentredRows.aroundMean(rows);
        DualLda dual = new DualLda(centred.gram().to(DType.F64), rows, rows.size(), shrinkage);
        watch.at("fitting lda", 0, 1);
        DualLda.Solution solution = dual.solve(IntStream.range(0, rows.count()).toArray());
        Tensor weight = centred.combined(solution.coefficients().to(DType.F32));
        SequencedMap<String, Double> found = new LinkedHashMap<>();
        found.put("shrinkage", solution.shrinkage());
        LinearModel model = LinearModel.around(centred.centres(), weight, solution.bias(), found);
        GroupFolds folds = GroupFolds.of(rows);
        if (folds.folds() < 2) {
            return model;
        }
        try {
            return model.with(dual.crossValidate(folds, watch));
        } catch (UnsolvableException _) {
            return model; // all rows determine the classifier, the fewer of a fold do not
        }
    }

    /**
     * Scores rows out of fold by their products with one another alone.
     *
     * @param products rows {@code [n, n]} of a Gram matrix, with labels and groups
     * @return empty if a class has only one group
     */
    public static Optional<CrossValidation> crossValidation(LabelledRows products, long size, SolverListener watch) {
        GroupFolds folds = GroupFolds.of(products);
        if (folds.folds() < 2) {
            return Optional.empty();
        }
        try (Scope _ = Scope.open()) {
            Tensor square = products.rows().to(DType.F64);
            return Optional.of(new DualLda(square, products, size, OptionalDouble.empty()).crossValidate(folds, watch));
        }
    }

    /**
     * Returns {@code γ = min(1, b²/a²)}, with {@code a² = ‖S − νI‖²} and b² an estimate of the squared error of S (Ledoit and Wolf: A
     * Well-conditioned Estimator for Large-dimensional Covariance Matrices, Journal of Multivariate Analysis 88, 2004).
     *
     * @param norm {@code ‖S‖²}
     * @param error {@code n² b²}; see {@link PooledCovariance#error}
     */
    static double ledoitWolf(double count, long size, double variance, double norm, DoubleSupplier error) {
        double far = norm - size * variance * variance;
        if (!(far > 1e-12 * norm)) {
            return 1; // a multiple of the identity already, or 0
        }
        return Math.clamp(error.getAsDouble() / (count * count) / far, LEAST_SHRINKAGE, 1);
    }

    static String singular(double rows, long size, double gamma) {
        return "the covariance of " + (long) rows + " rows of length " + size + " with shrinkage "
                + NamedArguments.decimal(gamma)
                + " is singular; use a larger shrinkage, e.g. lda:shrinkage=0.1, or lda, which selects it";
    }

    /** Solves for weight and bias from sums over the rows, without calibration. */
    public LinearModel fit(ClassStatistics sums) {
        try (Scope scope = Scope.open()) {
            PooledCovariance covariance = new PooledCovariance(sums.count(), sums.size(), sums.scatterMatrix());
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
     * Covariance of rows about the means of their classes, {@code S = XᵀX/n}.
     *
     * @param matrix {@code XᵀX [d, d]}, float64
     */
    private record PooledCovariance(double count, long size, Tensor matrix) {
        /** Returns the mean variance ν; 1 if it is 0. */
        private double variance() {
            double trace = matrix.diagonal().sum().item() / count;
            return trace > 0 ? trace / size : 1;
        }

        double shrinkage(DoubleUnaryOperator error) {
            double norm = matrix.mul(matrix).sum().item() / (count * count);
            return ledoitWolf(count, size, variance(), norm, () -> error.applyAsDouble(norm));
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
            double[] along =
                    ofRows(centred, block -> block.matmul(matrix).mul(block).sum(1));
            double[] lengths = ofRows(centred, block -> block.mul(block).sum(1));
            double error = 0;
            for (int[] group : given.members()) {
                double sum =
                        Arrays.stream(group).mapToDouble(i -> along[i] / count).sum();
                double squares = group.length == 1 ? lengths[group[0]] * lengths[group[0]] : squares(centred, group);
                error += squares - 2 * group.length * sum + (double) group.length * group.length * norm;
            }
            return error;
        }

        /** Computes a number of every row from blocks of rows. */
        private double[] ofRows(CentredRows centred, UnaryOperator<Tensor> fromRows) {
            double[] all = new double[(int) count];
            try (Scope _ = Scope.open()) {
                centred.eachRows((block, from, _) -> {
                    double[] some = fromRows.apply(block).toDoubles();
                    System.arraycopy(some, 0, all, Math.toIntExact(from), some.length);
                });
            }
            return all;
        }

        /** Returns {@code Σ_{i,j} (x_i·x_j)²} within a group. */
        private static double squares(CentredRows centred, int[] group) {
            try (Scope _ = Scope.open()) {
                Tensor some = centred.some(group);
                Tensor inner = some.matmul(some.transpose());
                return inner.mul(inner).sum().item();
            }
        }

        /** Returns {@code MΣ⁻¹ [k, d]}, float32, for the covariance shrunk by γ. */
        Tensor solve(Tensor means, double gamma) {
            double ridge = gamma * variance();
            if (gamma == 1) {
                return means.mul(1 / ridge);
            }
            double shift = count * ridge / (1 - gamma);
            Tensor square = Tensors.identity(matrix.size(0), DType.F64, matrix.device());
            square.mulInPlace(shift);
            Tensor shifted = matrix.add(square);
            if (!Decompositions.isPositiveDefinite(shifted)) {
                throw new UnsolvableException(singular(count, size, gamma));
            }
            Tensor solved = Decompositions.solve(shifted, means.to(DType.F64).transpose());
            return solved.transpose().mul(count / (1 - gamma)).to(DType.F32).contiguous();
        }
    }
}
