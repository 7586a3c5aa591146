package org.gramian.linear;

import java.util.List;
import java.util.Optional;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Mahalanobis distances of rows to class means under one covariance, {@code D_k(x) = ‖A(x − c) − m_k‖} with {@code AᵀA = Σ̂⁻¹}.
 *
 * <p>{@code Σ̂} is the shrunk covariance of rows about the means of their classes, see {@link Whitening}. The distance to the nearest class tells
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
    public static Optional<float[][]> outOfFold(LabelledRows rows, SolverListener watch) {
        GroupFolds folds = GroupFolds.of(rows);
        if (folds.folds() < 2) {
            return Optional.empty();
        }
        int classes = rows.classes();
        float[][] distances = new float[rows.count()][];
        for (int fold = 0; fold < folds.folds(); fold++) {
            watch.at("distances of known classes", fold, folds.folds());
            try (Scope _ = Scope.open()) {
                int[] tested = folds.rows(fold, true);
                double[] found = fit(rows.part(folds.rows(fold, false)))
                        .of(rows.part(tested).rows())
                        .toDoubles();
                for (int i = 0; i < tested.length; i++) {
                    distances[tested[i]] = new float[classes];
                    for (int k = 0; k < classes; k++) {
                        distances[tested[i]][k] = (float) found[i * classes + k];
                    }
                }
            }
        }
        return Optional.of(distances);
    }
}
