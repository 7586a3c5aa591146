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
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.linear.LinearSolver.UnsolvableException;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
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
        Tensor centre = CentredRows.aroundMean(rows.rows()).centres();
        Tensor means = centred.centres().sub(centre);
        PooledCovariance covariance = new PooledCovariance(rows.count(), rows.size(), centred.scatter());
        double gamma = shrinkage.orElseGet(() -> covariance.shrinkage(norm -> covariance.error(rows, centred, norm)));
        watch.at("fitting lda", 0, 1);
        double[] prior = new double[rows.classes()];
        Arrays.setAll(prior, label -> rows.count(label) * rows.weight(label));
        return model(centre, means, covariance, gamma, prior);
    }

    private LinearModel dual(LabelledRows rows, SolverListener watch) {
        CentredRows centred = CentredRows.aroundMean(rows.rows());
        DualLda dual = new DualLda(centred.gram().to(DType.F64), rows, rows.size(), shrinkage);
        watch.at("fitting lda", 0, 1);
        DualLda.Solution solution = dual.solve(IntStream.range(0, rows.count()).toArray());
        Tensor weight = centred.combined(solution.coefficients().to(DType.F32));
        SequencedMap<String, Double> found = new LinkedHashMap<>();
        found.put("shrinkage", solution.shrinkage());
        LinearModel model = LinearModel.around(centred.centres(), weight, solution.bias(), found);
        GroupFolds folds = GroupFolds.toCalibrate(rows);
        if (folds.count() < 2) {
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
        if (folds.count() < 2) {
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

    /** Covariance of rows about the means of their classes, {@code S = XᵀX/n}, from {@code XᵀX [d, d]}, float64. */
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

    /**
     * {@link Lda} from the products of rows with one another, for rows that are longer than their number: Σ is never built.
     *
     * <p>Of m rows X let A {@code [m, k]} average each class, {@code M = AᵀX}, and {@code Z = X − EM} the rows about the means of their
     * classes. By Woodbury's identity
     *
     * <pre>{@code
     * MΣ⁻¹ = (M − QᵀZ)/(γν),   Q = (ZZᵀ + hI)⁻¹ ZMᵀ,   h = mγν/(1 − γ)
     * }</pre>
     *
     * <p>is a combination {@code BX} of the rows, and all of it follows from {@code G = XXᵀ}: {@code ZMᵀ = GA − E(AᵀGA)} and
     * {@code ZZᵀ = G − GAEᵀ − E(GA)ᵀ + E(AᵀGA)Eᵀ}. One product of all rows so serves every fold of a cross-validation, and the product of
     * joined rows is the sum of the products of their parts.
     *
     * @param products G {@code [n, n]} of rows about any centre, float64
     * @param shrinkage γ; empty for that of Ledoit and Wolf
     */
    private record DualLda(Tensor products, LabelledRows rows, long size, OptionalDouble shrinkage) {
        /**
         * Classifier of some rows: scores {@code v·Xᵀ Bᵀ + b} about the centre of the products.
         *
         * @param coefficients B {@code [k, m]}, float64
         */
        @SuppressWarnings("ArrayRecordComponent") // never compared
        record Solution(Tensor coefficients, double[] bias, double shrinkage) {}

        /** Solves for the classifier of some rows, which must have every class. */
        Solution solve(int[] which) {
            try (Scope scope = Scope.open()) {
                int m = which.length;
                int classes = rows.classes();
                int[] labels = Arrays.stream(which).map(rows::label).toArray();
                double[] counts = new double[classes];
                Arrays.stream(labels).forEach(label -> counts[label]++);
                double[] averaging = new double[m * classes];
                double[] members = new double[classes * m];
                for (int i = 0; i < m; i++) {
                    averaging[i * classes + labels[i]] = 1 / counts[labels[i]];
                    members[labels[i] * m + i] = 1;
                }
                Tensor place = index(labels);
                Tensor some = index(which);
                Tensor own = products.select(0, some).select(1, some);
                Tensor a = tensor(averaging, m, classes);
                Tensor ga = own.matmul(a);
                Tensor means = a.transpose().matmul(ga); // AᵀGA [k, k]
                Tensor cross = ga.select(1, place); // GAEᵀ [m, m]
                Tensor within = own.sub(cross)
                        .sub(cross.transpose())
                        .add(means.select(0, place).select(1, place));
                Tensor right = ga.sub(means.select(0, place)); // ZMᵀ [m, k]
                double trace = within.diagonal().sum().item() / m;
                double variance = trace > 0 ? trace / size : 1;
                double gamma = shrinkage.orElseGet(() -> ledoitWolf(within, which, variance));
                Tensor b = a.transpose();
                if (gamma < 1) {
                    Tensor q = solved(within, right, gamma, m * gamma * variance / (1 - gamma));
                    Tensor inClasses = tensor(members, classes, m).matmul(q); // EᵀQ [k, k]
                    b = b.sub(q.transpose()).add(inClasses.transpose().matmul(b));
                }
                b = b.mul(1 / (gamma * variance));
                double[] quadratic = ga.mul(b.transpose()).sum(0).toDoubles(); // μ·Σ⁻¹μ
                double all = 0;
                for (int label = 0; label < classes; label++) {
                    counts[label] *= rows.weight(label);
                    all += counts[label];
                }
                double[] bias = new double[classes];
                for (int label = 0; label < classes; label++) {
                    bias[label] = Math.log(counts[label] / all) - quadratic[label] / 2;
                }
                return new Solution(scope.keep(b.contiguous()), bias, gamma);
            }
        }

        private Tensor solved(Tensor within, Tensor right, double gamma, double ridge) {
            Tensor identity = Tensors.identity(within.size(0), DType.F64, within.device());
            Tensor shifted = within.add(identity.mulInPlace(ridge));
            Tensor factor = Optional.of(shifted)
                    .filter(_ -> ridge > 0)
                    .flatMap(Decompositions::tryCholesky)
                    .orElseThrow(() -> new UnsolvableException(singular((double) within.size(0), size, gamma)));
            Tensor half = Decompositions.solveTriangular(factor, right, false, true);
            return Decompositions.solveTriangular(factor.transpose(), half, true, true);
        }

        /** Returns γ of Ledoit and Wolf; see {@link Lda}. */
        private double ledoitWolf(Tensor within, int[] which, double variance) {
            double m = which.length;
            Tensor squares = within.mul(within);
            double[] along = squares.sum(1).toDoubles(); // n x_i·S x_i
            double norm = Arrays.stream(along).sum() / (m * m);
            return Lda.ledoitWolf(m, size, variance, norm, () -> error(squares, along, norm, which));
        }

        /** Returns {@code m² b²} from the squares of the products; see {@link Lda}. */
        private double error(Tensor squares, double[] along, double norm, int[] which) {
            double m = which.length;
            double[] lengths = squares.diagonal().toDoubles();
            double error = 0;
            for (int[] group : LabelledRows.members(which.length, i -> rows.group(which[i]))) {
                error += group.length == 1 ? lengths[group[0]] : within(squares, index(group));
                error += (double) group.length * group.length * norm;
                for (int i : group) {
                    error -= 2 * group.length * along[i] / m;
                }
            }
            return error;
        }

        private static double within(Tensor squares, Tensor group) {
            return squares.select(0, group).select(1, group).sum().item();
        }

        /** Scores each row by a classifier of the other folds. */
        CrossValidation crossValidate(GroupFolds folds, SolverListener watch) {
            return CrossValidation.of(rows, folds, watch, (trained, tested) -> {
                Solution solution = solve(trained);
                double[] scores = products.select(0, index(tested))
                        .select(1, index(trained))
                        .matmul(solution.coefficients().transpose())
                        .toDoubles();
                Arrays.setAll(scores, i -> scores[i] + solution.bias()[i % rows.classes()]);
                return scores;
            });
        }

        private Tensor index(int[] which) {
            return CentredRows.index(which, products.device());
        }

        private Tensor tensor(double[] values, long rowCount, long columns) {
            Device device = products.device();
            return Tensors.of(values, Shape.of(rowCount, columns), DType.F64).to(device);
        }
    }
}
