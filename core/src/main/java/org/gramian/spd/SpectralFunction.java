package org.gramian.spd;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;

/**
 * A function of eigenvalues, {@code f(λ) = φ(max(λ, floor))}, which makes one of symmetric matrices: {@code f(S) = U
 * diag(f(λ)) Uᵀ}.
 *
 * <p>The floor keeps logarithms and roots defined on the matrices that occur: singular up to rounding, or indefinite
 * after an element-wise ReLU. Below and at it the derivative is 0.
 *
 * <p>Rounding alone puts zero eigenvalues at about {@code ±2ε max|λ|}, ε of the number type: above a constant floor where
 * matrices are large. So logarithms and powers take {@code max(floor, 16ε max|λ|)} of each matrix instead, which counts as a
 * constant on the way back: otherwise the covariance of more channels than positions would have logarithms of noise, with
 * slopes of up to 1/floor.
 */
public sealed interface SpectralFunction {
    /** Default lower bound of eigenvalues for logarithm and power. */
    double DEFAULT_FLOOR = 1e-6;

    /** How many roundings of the largest eigenvalue of a matrix are rounding too. */
    double ROUNDINGS = 16;

    /** Eigenvalues below this count as this. */
    double floor();

    /** Eigenvalues below so many roundings of the largest of their matrix count as that, too; 0 for none. */
    default double roundings() {
        return ROUNDINGS;
    }

    /** φ of values not below the floor. */
    Tensor phi(Tensor values);

    /** φ' of values not below the floor. */
    Tensor slope(Tensor values);

    /** {@code max(λ, ε)}: ReEig of SPDNet (Huang and Van Gool, 2017); keeps matrices positive definite. */
    record ReEig(double floor) implements SpectralFunction {
        public ReEig {
            requirePositive(floor);
        }

        /** Its floor is what it is for, and its slopes are 1 at most. */
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
