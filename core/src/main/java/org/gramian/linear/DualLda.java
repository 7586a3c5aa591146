package org.gramian.linear;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
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
record DualLda(Tensor products, LabelledRows rows, long size, OptionalDouble shrinkage) {
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
                .orElseThrow(() -> new UnsolvableException(Lda.singular((double) within.size(0), size, gamma)));
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
        long[] wide = Arrays.stream(which).asLongStream().toArray();
        return Tensors.ofLongs(wide, Shape.of(wide.length)).to(products.device());
    }

    private Tensor tensor(double[] values, long rowCount, long columns) {
        Device device = products.device();
        return Tensors.of(values, Shape.of(rowCount, columns), DType.F64).to(device);
    }
}
