package org.gramian.linear;

import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The covariance of rows around the means of their classes, {@code S = XᵀX/n}, in the smaller of two forms.
 *
 * @param centred X {@code [n, d]}
 * @param products whether the matrix is {@code XXᵀ [n, n]}; else {@code XᵀX [d, d]}
 * @param matrix one of the two, in double precision
 */
record PooledCovariance(CentredRows centred, boolean products, Tensor matrix) {
    static PooledCovariance of(LabelledRows rows, CentredRows centred) {
        boolean products = rows.size() > rows.count();
        return new PooledCovariance(
                centred, products, products ? Tensors.to(centred.gram(), DType.F64) : centred.scatter());
    }

    private double count() {
        return centred.rows().size(0);
    }

    /** ν, the mean variance; 1 where there is none. */
    double variance() {
        double trace = Reductions.sum(Views.diagonal(matrix)).item() / count();
        return trace > 0 ? trace / centred.rows().size(1) : 1;
    }

    /** {@code ‖S‖²}: both forms have the same eigenvalues. */
    double squaredNorm() {
        return Reductions.sum(Elementwise.mul(matrix, matrix)).item() / (count() * count());
    }

    /**
     * {@code (M Σ⁻¹) [k, d]} in single precision for the covariance that is shrunk by γ.
     *
     * @throws UnsolvableException if that has no inverse
     */
    Tensor solve(Tensor means, double gamma) {
        double ridge = gamma * variance();
        if (gamma == 1) {
            return Elementwise.mul(means, 1 / ridge);
        }
        double shift = count() * ridge / (1 - gamma);
        Tensor square = Tensors.identity(matrix.size(0), DType.F64, matrix.device());
        Elementwise.mulInPlace(square, shift);
        Tensor shifted = Elementwise.add(matrix, square);
        if ((products && ridge == 0) || !Decompositions.isPositiveDefinite(shifted)) {
            throw new UnsolvableException("the covariance of " + (long) count() + " rows of length "
                    + centred.rows().size(1) + " with shrinkage " + SolverText.decimal(gamma)
                    + " is singular; use a larger shrinkage, e.g. lda:shrinkage=0.1, or lda, which selects it");
        }
        return products ? throughRows(shifted, means, ridge) : directly(shifted, means, gamma);
    }

    private Tensor directly(Tensor shifted, Tensor means, double gamma) {
        Tensor wanted = Views.transpose(Tensors.to(means, DType.F64));
        Tensor solved = Decompositions.solve(shifted, wanted);
        Tensor weight = Elementwise.mul(Views.transpose(solved), count() / (1 - gamma));
        return Views.contiguous(Tensors.to(weight, DType.F32));
    }

    private Tensor throughRows(Tensor shifted, Tensor means, double ridge) {
        Tensor right = Tensors.to(centred.times(means), DType.F64);
        Tensor solved = Tensors.to(Decompositions.solve(shifted, right), DType.F32);
        Tensor part = centred.combined(Views.contiguous(Views.transpose(solved)));
        return Elementwise.mul(Elementwise.sub(means, part), 1 / ridge);
    }
}
