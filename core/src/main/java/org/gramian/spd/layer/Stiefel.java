package org.gramian.spd.layer;

import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Stiefel manifold of matrices {@code W [C, C']} with orthonormal columns, {@code WᵀW = I}.
 *
 * <p>Tangent vectors Z at W satisfy {@code WᵀZ + ZᵀW = 0}. Reference: Edelman, Arias, Smith, "The Geometry of
 * Algorithms with Orthogonality Constraints", SIAM J. Matrix Anal. Appl. 20, 1998.
 */
public final class Stiefel {
    private Stiefel() {}

    /** Riemannian metric, which determines the Riemannian gradient for a Euclidean gradient F. */
    public enum Metric {
        /** {@code F − W Fᵀ W}, as in the paper. */
        CANONICAL,
        /** {@code F − W·sym(WᵀF)}, as in the authors' code; the two differ by up to a factor of 2. */
        EUCLIDEAN
    }

    /**
     * Draws a uniformly distributed point: the Q factor of a Gaussian matrix with fixed signs.
     *
     * @param shape {@code [C, C']} with {@code C' ≤ C}
     * @return {@code W [C, C']}
     */
    public static Tensor random(RandomGenerator random, Shape shape, DType type) {
        try (Scope scope = Scope.open()) {
            Tensor gaussian = Tensors.gaussian(random, shape, DType.F64);
            return scope.keep(Decompositions.orthonormalColumns(gaussian, true).to(type));
        }
    }

    /**
     * Draws uniform values in {@code ±√(3/C)}, as Caffe's {@code xavier} does for a square W.
     *
     * <p>The columns have about unit length but are not orthogonal; the first retraction moves W onto the manifold.
     *
     * @param shape {@code [C, C']}
     * @return {@code W [C, C']}
     */
    public static Tensor xavier(RandomGenerator random, Shape shape, DType type) {
        double bound = Math.sqrt(3.0 / shape.at(0));
        return Tensors.uniform(random, -bound, bound, shape, type);
    }

    /** Computes the Riemannian gradient from the Euclidean gradient: point W {@code [C, C']} and Euclidean gradient F {@code [C, C']}; returns tangent vector at W {@code [C, C']}. */
    public static Tensor gradient(Tensor w, Tensor f, Metric metric) {
        if (metric == Metric.EUCLIDEAN) {
            return project(w, f);
        }
        try (Scope scope = Scope.open()) {
            Tensor wfw = w.matmul(f.transpose().matmul(w));
            return scope.keep(f.sub(wfw));
        }
    }

    /**
     * Projects a matrix onto the tangent space at W: {@code Z − W·sym(WᵀZ)}. Transports momentum from one point to the
     * next.
     *
     * <p>The projection is idempotent, unlike the canonical gradient formula.
     *
     * @param w point W {@code [C, C']}
     * @param z any matrix {@code [C, C']}
     * @return tangent vector at W {@code [C, C']}
     */
    public static Tensor project(Tensor w, Tensor z) {
        try (Scope scope = Scope.open()) {
            Tensor wz = w.transpose().matmul(z);
            return scope.keep(z.sub(w.matmul(Decompositions.symmetric(wz))));
        }
    }

    /** Computes {@code max |WᵀW − I|}, which is 0 on the manifold: matrix {@code [C, C']}. */
    public static double orthogonalityError(Tensor w) {
        try (Scope _ = Scope.open()) {
            Tensor gram = w.transpose().matmul(w);
            Tensor identity = Tensors.identity(w.size(1), w.type(), w.device());
            return gram.sub(identity).largestMagnitude();
        }
    }
}
