package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;
import static org.gramian.tensor.Decompositions.symmetric;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Function of symmetric matrices through their eigenvalues, {@code f(S) = U diag(f(λ)) Uᵀ} with {@code f(λ) = φ(max(λ,
 * floor))}.
 *
 * <p>The floor keeps logarithms and roots defined for matrices that are singular up to rounding, or indefinite after an
 * element-wise ReLU; at and below it the derivative is 0. Rounding moves zero eigenvalues to about {@code ±2ε max|λ|},
 * so logarithms and powers use {@code max(floor, 16ε max|λ|)} of each matrix, constant in the backward pass.
 *
 * <p>Backward by the Daleckiĭ–Kreĭn formula, {@code dS = sym(U (L∘(UᵀGU)) Uᵀ)} with {@code L_ij = (f(λ_i) −
 * f(λ_j))/(λ_i − λ_j)}, and {@code f'} where both eigenvalues coincide.
 *
 * @since 0.1
 */
public sealed interface SpectralFunction {
    /** Default lower bound of eigenvalues for logarithm and power. */
    double DEFAULT_FLOOR = 1e-6;

    /** Eigenvalues below this many rounding errors of the largest eigenvalue are clamped. */
    double ROUNDINGS = 16;

    /** Returns the lower bound of the eigenvalues. */
    double floor();

    /** Returns the lower bound relative to the largest eigenvalue of a matrix, in rounding errors; 0 for none. */
    default double roundings() {
        return ROUNDINGS;
    }

    /** Computes φ of values not below the floor. */
    Tensor phi(Tensor values);

    /** Computes φ' of values not below the floor. */
    Tensor slope(Tensor values);

    /**
     * Computes {@code U f(Λ) Uᵀ} for {@code S = U Λ Uᵀ}.
     *
     * @param matrices S {@code [n, C, C]}, read as {@code sym(S)}
     * @return {@code [n, C, C]}
     */
    default Var apply(Var matrices) {
        return matrices.tape().apply(List.of(matrices), () -> {
            Eigen eigen = Decompositions.symmetricEigen(symmetric(matrices.value()));
            Tensor u = eigen.vectors();
            Tensor values = phi(eigen.values().maximum(floors(eigen.values())));
            Tensor y = u.mul(values.unsqueeze(-2)).matmul(u.transpose());
            return Result.of(
                    y,
                    (g, wanted) -> {
                        Tensor inBasis = u.transpose().matmul(g).matmul(u);
                        Tensor weighted = dividedDifferences(eigen.values()).mul(inBasis);
                        return list(symmetric(u.matmul(weighted).matmul(u.transpose())));
                    },
                    u,
                    eigen.values());
        });
    }

    /**
     * Computes {@code L [n, C, C]}. Eigenvalues closer than {@code ∛ε} of their size use the derivative between them:
     * there the rounding of the quotient and the truncation of the derivative are of the same order.
     */
    private Tensor dividedDifferences(Tensor eigenvalues) {
        Tensor column = eigenvalues.unsqueeze(-1);
        Tensor row = eigenvalues.unsqueeze(-2);
        Tensor difference = column.sub(row);
        Tensor floors = floors(eigenvalues);
        double nearness = Math.cbrt(eigenvalues.type().epsilon());
        Tensor reach = column.abs().add(row.abs()).mul(nearness);
        Tensor apart = difference.abs().greater(reach);
        Tensor values = phi(eigenvalues.maximum(floors));
        Tensor rise = values.unsqueeze(-1).sub(values.unsqueeze(-2));
        Tensor quotient = rise.div(Tensors.where(apart, difference, 1));
        Tensor between = column.add(row).mul(0.5);
        Tensor floor = floors.unsqueeze(-1);
        Tensor slope = slope(between.maximum(floor));
        return Tensors.where(apart, quotient, Tensors.where(between.greater(floor), slope, 0));
    }

    /** Computes the floor of each matrix, {@code [n, 1]} for eigenvalues {@code [n, C]}. */
    private Tensor floors(Tensor eigenvalues) {
        double relative = roundings() * eigenvalues.type().epsilon();
        Tensor largest = eigenvalues.abs().max(-1);
        return largest.mul(relative).atLeast(floor());
    }

    /** {@code max(λ, ε)}: ReEig of SPDNet (Huang and Van Gool, AAAI 2017). */
    record ReEig(double floor) implements SpectralFunction {
        public ReEig {
            requirePositive(floor);
        }

        @Override
        public double roundings() {
            return 0;
        }

        @Override
        public Tensor phi(Tensor values) {
            return values;
        }

        @Override
        public Tensor slope(Tensor values) {
            return values.mul(0).add(1);
        }
    }

    /** {@code log λ}: maps the manifold to its tangent space at the identity (log-Euclidean). */
    record Log(double floor) implements SpectralFunction {
        public Log {
            requirePositive(floor);
        }

        @Override
        public Tensor phi(Tensor values) {
            return values.log();
        }

        @Override
        public Tensor slope(Tensor values) {
            return values.reciprocal();
        }
    }

    /** {@code λ^p}, {@code 0 < p ≤ 1}: matrix power normalization (MPN-COV; Li et al., ICCV 2017); p = ½ is the square root. */
    record Power(double exponent, double floor) implements SpectralFunction {
        public Power {
            requirePositive(floor);
            if (!(exponent > 0 && exponent <= 1)) {
                throw new IllegalArgumentException("the power must lie between 0 and 1, found " + exponent);
            }
        }

        @Override
        public Tensor phi(Tensor values) {
            return values.pow(exponent);
        }

        @Override
        public Tensor slope(Tensor values) {
            return values.pow(exponent - 1).mul(exponent);
        }
    }

    private static void requirePositive(double floor) {
        if (!(floor > 0) || Double.isInfinite(floor)) {
            throw new IllegalArgumentException("the smallest eigenvalue must be a positive number, found " + floor);
        }
    }
}
