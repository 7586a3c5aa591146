package org.gramian.linear;

import java.util.LinkedHashMap;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Minimum distance to the mean of a class: {@code ‖v − μ_k‖²} is smallest where
 *
 * <pre>{@code z_k = (2 v·μ_k − ‖μ_k‖²) / u}</pre>
 *
 * <p>is largest, for the rest, {@code ‖v‖²/u}, is the same for all classes. The unit u is the mean squared distance of a row
 * to the mean of its class (1 where all are 0), so that the scale of descriptors plays no part in probabilities; and all is
 * computed around the mean of all rows, which changes no difference between classes.
 *
 * <p>On vectors of matrix logarithms, {@code covariance/log/triu}, it is minimum distance to the log-Euclidean mean: {@code
 * triu} keeps Frobenius distances, and the mean of logarithms is the logarithm of that mean (Arsigny, Fillard, Pennec,
 * Ayache: Log-Euclidean Metrics for Fast and Simple Calculus on Diffusion Tensors, MRM 56, 2006; Barachant, Bonnet, Congedo,
 * Jutten: Multiclass Brain-Computer Interface Classification by Riemannian Geometry, IEEE TBME 59, 2012). Weights of
 * classes play no part.
 */
public record NearestMean() implements LinearSolver {
    static final String WORD = "mean";
    static final String FORM = "mean: nearest class mean";

    @Override
    public String text() {
        return WORD;
    }

    @Override
    public void requireRoom(long rows, long size) {
        new MemoryBound(WORD, rows, size).requireRows();
    }

    @Override
    public long bytes(long rows, long size) {
        return 2 * Float.BYTES * rows * size; // and the rows of a fold
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        watch.at("class means", 0, 1);
        try (Scope scope = Scope.open()) {
            CentredRows classes = CentredRows.aroundClassMeans(rows);
            Tensor centre = CentredRows.aroundMean(rows).centres();
            double square = classes.meanSquare();
            double unit = square > 0 ? square : 1;
            Tensor means = Elementwise.sub(classes.centres(), centre);
            Tensor wide = Tensors.to(means, DType.F64);
            double[] bias = Elementwise.mul(Reductions.sum(Elementwise.mul(wide, wide), 1), -1 / unit)
                    .toDoubles();
            Tensor weight = Elementwise.mul(means, 2 / unit);
            return new LinearModel(weight, Offsets.around(centre, weight, bias), new LinkedHashMap<>()).keptBy(scope);
        }
    }
}
