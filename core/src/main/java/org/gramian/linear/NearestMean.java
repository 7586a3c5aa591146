package org.gramian.linear;

import java.util.LinkedHashMap;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Nearest class mean: the class of the smallest {@code ‖v − μ_k‖²} has the largest score
 *
 * <pre>{@code z_k = (2 v·μ_k − ‖μ_k‖²) / u}</pre>
 *
 * <p>with the mean squared distance u of a row to the mean of its class (1 if that is 0), so that probabilities do not depend on the
 * scale of descriptors. Class weights have no effect.
 *
 * <p>On matrix logarithms, {@code covariance/log/triu}, it is minimum distance to the log-Euclidean mean (Arsigny et al., MRM 56, 2006;
 * Barachant et al., IEEE TBME 59, 2012).
 */
public record NearestMean() implements LinearSolver {
    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        watch.at("class means", 0, 1);
        try (Scope scope = Scope.open()) {
            CentredRows classes = CentredRows.aroundClassMeans(rows);
            Tensor centre = CentredRows.aroundMean(rows.rows()).centres();
            return model(centre, classes.centres().sub(centre), classes.meanSquare())
                    .keptBy(scope);
        }
    }

    /** Solves for weight and bias from sums over the rows, without calibration. */
    public LinearModel fit(ClassStatistics sums) {
        try (Scope scope = Scope.open()) {
            return model(sums.centre(), sums.centredMeans(), sums.trace() / sums.count())
                    .keptBy(scope);
        }
    }

    /** @param square mean squared distance of a row to the mean of its class */
    private static LinearModel model(Tensor centre, Tensor means, double square) {
        double unit = square > 0 ? square : 1;
        Tensor wide = means.to(DType.F64);
        double[] bias = wide.mul(wide).sum(1).mul(-1 / unit).toDoubles();
        return LinearModel.around(centre, means.mul(2 / unit), bias, new LinkedHashMap<>());
    }
}
