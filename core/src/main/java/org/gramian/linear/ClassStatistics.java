package org.gramian.linear;

import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Sums over n labelled rows {@code x_i} of length d in k classes, from which {@link NearestMean} and {@link Lda} are solved without the
 * rows: several machines may each sum a part of them.
 *
 * @param counts {@code n_c}, rows of each class; at least 1
 * @param means {@code μ_c [k, d]}
 * @param scatter {@code Σ_i (x_i − μ(y_i))(x_i − μ(y_i))ᵀ [d, d]}; empty for {@link NearestMean}
 * @param groupSquares {@code Σ_g Σ_{i,j∈g} ((x_i − μ(y_i))·(x_j − μ(y_j)))²}, for the shrinkage; g are groups of rows that are not
 *     independent, such as the crops of an image
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ClassStatistics(
        long[] counts,
        double[] weights,
        double[] means,
        double[] scatter,
        double trace,
        double groupSquares,
        int groupSize) {
    long count() {
        long all = 0;
        for (long count : counts) {
            all += count;
        }
        return all;
    }

    int size() {
        return means.length / counts.length;
    }

    /** Returns the mean of all rows {@code [1, d]}, float64. */
    Tensor centre() {
        int d = size();
        double[] centre = new double[d];
        for (int c = 0; c < counts.length; c++) {
            double share = (double) counts[c] / count();
            for (int j = 0; j < d; j++) {
                centre[j] += share * means[c * d + j];
            }
        }
        return Tensors.of(centre, Shape.of(1, d), DType.F64);
    }

    /** Returns the means of the classes around that of all rows {@code [k, d]}, float32. */
    Tensor centredMeans() {
        return Tensors.of(means, Shape.of(counts.length, size()), DType.F64)
                .sub(centre())
                .to(DType.F32);
    }

    Tensor scatterMatrix() {
        return Tensors.of(scatter, Shape.of(size(), size()), DType.F64);
    }
}
