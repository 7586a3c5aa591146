package org.gramian.spd;

import java.util.random.RandomGenerator;
import org.gramian.basis.EnumWords;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The manifold of matrices {@code W [C, C']} with orthonormal columns, {@code WᵀW = I} (Edelman, Arias, Smith, 1998).
 *
 * <p>Tangent vectors Z at W satisfy {@code WᵀZ + ZᵀW = 0}.
 */
public final class Stiefel {
    private Stiefel() {}

    /** Which inner product of tangent vectors turns a Euclidean gradient into a Riemannian one. */
    public enum Metric {
        /** {@code F − W Fᵀ W}, as in the paper. */
        CANONICAL,
        /** {@code F − W·sym(WᵀF)}, as in the authors' code; they differ by up to a factor 2. */
        EUCLIDEAN;

        /** The word, as {@code canonical}. */
        public String text() {
            return EnumWords.text(this);
        }

        /** Reads {@link #text} back. */
        public static Metric parse(String text) {
            return EnumWords.parse(Metric.class, "the metric", text);
        }
    }

    /** A random point, uniformly distributed: the Q of a Gaussian matrix, signs fixed. */
    public static Tensor random(RandomGenerator random, Shape shape, DType type) {
        try (Scope scope = Scope.open()) {
            Tensor gaussian = Tensors.gaussian(random, shape, DType.F64);
            return scope.keep(Tensors.to(Decompositions.orthonormalColumns(gaussian, true), type));
        }
    }

    /**
     * Uniform numbers between ±√(3/C), C the number of rows: columns of about unit length, not orthogonal. Where Caffe's
     * {@code xavier} puts a square W; the first retraction brings it onto the manifold.
     */
    public static Tensor xavier(RandomGenerator random, Shape shape, DType type) {
        double bound = Math.sqrt(3.0 / shape.at(0));
        return Tensors.uniform(random, -bound, bound, shape, type);
    }

    /** The Riemannian gradient at W for the Euclidean gradient F. */
    public static Tensor gradient(Tensor w, Tensor f, Metric metric) {
        if (metric == Metric.EUCLIDEAN) {
            return project(w, f);
        }
        try (Scope scope = Scope.open()) {
            Tensor wfw = Products.matmul(w, Products.matmul(Views.transpose(f), w));
            return scope.keep(Elementwise.sub(f, wfw));
        }
    }

    /**
     * The tangent vector at W nearest to Z, {@code Z − W·sym(WᵀZ)}; transports momentum from one point to the next.
     *
     * <p>It is idempotent, which the canonical gradient formula is not.
     */
    public static Tensor project(Tensor w, Tensor z) {
        try (Scope scope = Scope.open()) {
            Tensor wz = Products.matmul(Views.transpose(w), z);
            return scope.keep(Elementwise.sub(z, Products.matmul(w, Spectral.symmetric(wz))));
        }
    }

    /** {@code max |WᵀW − I|}, 0 on the manifold. */
    public static double orthogonalityError(Tensor w) {
        try (Scope _ = Scope.open()) {
            Tensor gram = Products.matmul(Views.transpose(w), w);
            Tensor identity = Tensors.identity(w.size(1), w.type(), w.device());
            return Reductions.largestMagnitude(Elementwise.sub(gram, identity));
        }
    }
}
