package org.gramian.linear;

import java.util.List;
import java.util.Optional;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Mahalanobis distances of rows to class means under one covariance, {@code D_k(x) = ‖A(x − c) − m_k‖} with {@code AᵀA = Σ̂⁻¹}.
 *
 * <p>{@code Σ̂} is the shrunk covariance of rows about the means of their classes, see {@link Whitening}. The distance to the nearest class separates
 * rows of other classes (K. Lee, K. Lee, H. Lee and J. Shin, "A Simple Unified Framework for Detecting Out-of-Distribution Samples and
 * Adversarial Attacks", NeurIPS 2018).
 *
 * @param centre c, the mean of all rows {@code [d]}
 * @param matrix A {@code [d, d]}
 * @param means {@code m_k = A(μ_k − c) [k, d]}
 */
public record ClassDistances(Tensor centre, Tensor matrix, Tensor means) {
    /** Fits means and covariance. */
    public static ClassDistances fit(LabelledRows rows) {
        try (Scope scope = Scope.open()) {
            Tensor centre = CentredRows.aroundMean(rows.rows()).centres();
            CentredRows centred = CentredRows.aroundClassMeans(rows);
            Tensor matrix = Whitening.fit(List.of(centred.all())).matrix();
            Tensor means = centred.centres().sub(centre).matmul(matrix.transpose());
            return new ClassDistances(
                    scope.keep(centre.reshape(rows.size()).contiguous()), scope.keep(matrix), scope.keep(means));
        }
    }

    /** Computes {@code D [n, k]} of rows {@code [n, d]}. */
    public Tensor of(Tensor rows) {
        Tensor z = rows.sub(centre).matmul(matrix.transpose());
        Tensor lengths = z.mul(z).sum(1).reshape(z.size(0), 1);
        Tensor ofMeans = means.mul(means).sum(1).reshape(1, means.size(0));
        return lengths.add(ofMeans)
                .addScaled(z.matmul(means.transpose()), -2)
                .relu()
                .sqrt();
    }

    /** Computes the distances {@code [n][k]} of each row by a fit without the rows of its group; empty if a class has only one group. */
    public static Optional<double[][]> outOfFold(LabelledRows rows, SolverListener watch) {
        GroupFolds folds = GroupFolds.of(rows);
        return folds.count() < 2
                ? Optional.empty()
                : Optional.of(folds.outOfFold(
                        "distances of known classes",
                        watch,
                        (trained, tested) -> fit(rows.part(trained))
                                .of(rows.part(tested).rows())
                                .toDoubles()));
    }
}
