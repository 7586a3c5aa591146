package org.gramian.spd;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;

/**
 * A function of eigenvalues, {@code f(λ) = φ(max(λ, floor))}, which makes one of symmetric matrices: {@code f(S) = U
 * diag(f(λ)) Uᵀ}.
 *
 * <p>The floor keeps logarithms and roots defined on the matrices that occur: singular up to rounding, or indefinite
 * after an element-wise ReLU. Below and at it the derivative is 0.
 */
public sealed interface SpectralFunction {
    /** Smallest eigenvalue that a logarithm or a power sees, unless told otherwise. */
    double DEFAULT_FLOOR = 1e-6;

    /** Eigenvalues below this count as this. */
    double floor();

    /** φ of values not below the floor. */
    Tensor phi(Tensor values);

    /** φ' of values not below the floor. */
    Tensor slope(Tensor values);

    /** {@code max(λ, ε)}: ReEig of SPDNet (Huang and Van Gool, 2017); keeps matrices positive definite. */
    record ReEig(double floor) implements SpectralFunction {
        public ReEig {
            requirePositive(floor);
        }

        @Override
        public Tensor phi(Tensor values) {
            return values;
        }

        @Override
        public Tensor slope(Tensor values) {
            return Elementwise.add(Elementwise.mul(values, 0), 1);
        }
    }

    /** {@code log λ}: takes the manifold to its tangent space at the identity (log-Euclidean). */
    record Log(double floor) implements SpectralFunction {
        public Log {
            requirePositive(floor);
        }

        @Override
        public Tensor phi(Tensor values) {
            return Elementwise.log(values);
        }

        @Override
        public Tensor slope(Tensor values) {
            return Elementwise.reciprocal(values);
        }
    }

    /** {@code λ^p}, p between 0 and 1: matrix power normalization (MPN-COV; Li et al., 2017); the root is p = ½. */
    record Power(double exponent, double floor) implements SpectralFunction {
        public Power {
            requirePositive(floor);
            if (!(exponent > 0 && exponent <= 1)) {
                throw new IllegalArgumentException("the power must lie between 0 and 1, found " + exponent);
            }
        }

        @Override
        public Tensor phi(Tensor values) {
            return Elementwise.pow(values, exponent);
        }

        @Override
        public Tensor slope(Tensor values) {
            return Elementwise.mul(Elementwise.pow(values, exponent - 1), exponent);
        }
    }

    private static void requirePositive(double floor) {
        if (!(floor > 0) || Double.isInfinite(floor)) {
            throw new IllegalArgumentException("the smallest eigenvalue must be a positive number, found " + floor);
        }
    }
}
