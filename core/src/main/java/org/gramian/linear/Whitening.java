package org.gramian.linear;

import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Linear map {@code z = A(x − μ)} with {@code AᵀA = Σ̂⁻¹}: Euclidean distances of {@code z} are Mahalanobis distances of {@code x}.
 *
 * <p>{@code A = L⁻¹} of the Cholesky factor {@code Σ̂ = LLᵀ}. The covariance is shrunk as in O. Ledoit and M. Wolf, "A well-conditioned
 * estimator for large-dimensional covariance matrices", Journal of Multivariate Analysis 88, 2004:
 *
 * <pre>{@code
 * S = XᵀX/n,  m = tr S / d,  δ² = ‖S − mI‖² / d,  β² = min(δ², (Σ ‖x‖⁴/n − ‖S‖²) / (n d))
 * Σ̂ = (β²/δ²) m I + (1 − β²/δ²) S
 * }</pre>
 *
 * @param mean μ {@code [d]}
 * @param matrix A {@code [d, d]}, lower triangular
 */
public record Whitening(Tensor mean, Tensor matrix) {
    /** Part of the mean variance that is always added, so that constant features do not make Σ̂ singular in float32. */
    private static final double FLOOR = 1e-6;

    /**
     * Fits mean and covariance.
     *
     * @param blocks at least one, each {@code [rows, d]}, float32
     */
    public static Whitening fit(List<Tensor> blocks) {
        try (Scope scope = Scope.open()) {
            long d = blocks.getFirst().size(1);
            Tensor sum = Tensors.zeros(Shape.of(d), DType.F64, blocks.getFirst().device());
            long n = 0;
            for (Tensor block : blocks) {
                try (Scope _ = Scope.open()) {
                    sum.copyFrom(sum.add(block.columnSums().to(DType.F64)));
                }
                n += block.size(0);
            }
            Tensor mean = sum.mul(1.0 / n).to(DType.F32);
            Tensor scatter = Tensors.zeros(Shape.of(d, d), DType.F64, sum.device());
            double fourth = 0;
            for (Tensor block : blocks) {
                try (Scope _ = Scope.open()) {
                    Tensor x = block.sub(mean);
                    scatter.copyFrom(scatter.add(x.transpose().matmul(x).to(DType.F64)));
                    Tensor squares = x.mul(x).sum(1).to(DType.F64);
                    fourth += squares.mul(squares).sum().item();
                }
            }
            Tensor factor = Decompositions.cholesky(shrunk(scatter.mulInPlace(1.0 / n), n, fourth / n));
            Tensor inverse = Decompositions.solveTriangular(
                    factor, Tensors.identity(d, DType.F64, factor.device()), false, true);
            return new Whitening(
                    scope.keep(mean), scope.keep(inverse.to(DType.F32).contiguous()));
        }
    }

    /**
     * Shrinks a covariance.
     *
     * @param s S {@code [d, d]}, float64
     * @param fourth mean of {@code ‖x‖⁴}
     */
    public static Tensor shrunk(Tensor s, long n, double fourth) {
        double d = s.size(0);
        double variance = s.diagonal().sum().item() / d;
        double norm = s.mul(s).sum().item();
        double spread = norm / d - variance * variance;
        double error = Math.min(spread, (fourth - norm) / (n * d));
        double part = spread > 0 ? Math.max(0, error / spread) : 1;
        Tensor identity = Tensors.identity(s.size(0), DType.F64, s.device());
        double level = variance > 0 ? variance : 1; // all rows are equal
        return s.mul(1 - part).add(identity.mulInPlace(part * variance + FLOOR * level));
    }

    /** Whitens rows {@code [..., d]}. */
    public Tensor apply(Tensor rows) {
        return rows.sub(mean).matmul(matrix.transpose());
    }
}
