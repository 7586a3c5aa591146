package org.gramian.spd;

import org.gramian.basis.EnumWords;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Ways from a point W of the {@link Stiefel} manifold along a tangent vector ξ back onto the manifold; all agree to first
 * order in ξ, {@link #QR_UNSIGNED} up to the signs of columns.
 */
public enum Retraction {
    /**
     * The Q of {@code W + ξ = QR} by Householder reflections, signs fixed so that {@code diag(R) > 0}: without that,
     * columns flip at random.
     */
    QR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return Decompositions.orthonormalColumns(Elementwise.add(w, xi), true);
        }
    },
    /**
     * The same Q with the signs that the library leaves, as the paper and the authors' code have it: columns flip at
     * random, and momentum of a flipped column points the wrong way.
     */
    QR_UNSIGNED {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return Decompositions.orthonormalColumns(Elementwise.add(w, xi), false);
        }
    },
    /**
     * The same Q by products alone: {@code AᵀA = LLᵀ}, {@code Q = A L⁻ᵀ}, done twice; far faster on a GPU (Yamamoto et
     * al., 2015). Steps must be moderate: the condition of {@code W + ξ} is squared.
     */
    CHOLESKY_QR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return choleskyQ(choleskyQ(Elementwise.add(w, xi)));
        }
    },
    /** The nearest point, {@code A (AᵀA)^(−1/2)} for {@code A = W + ξ}. */
    POLAR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            Tensor a = Elementwise.add(w, xi);
            Eigen eigen = Decompositions.symmetricEigen(Spectral.symmetric(Products.matmul(Views.transpose(a), a)));
            Tensor scaled = Elementwise.mul(eigen.vectors(), Elementwise.pow(Views.unsqueeze(eigen.values(), 0), -0.5));
            return corrected(Products.matmul(a, Products.matmul(scaled, Views.transpose(eigen.vectors()))));
        }
    },
    /**
     * The Cayley transform {@code (I − ½A)⁻¹(I + ½A)W} of the skew {@code A = PξWᵀ − WξᵀP}, {@code P = I − ½WWᵀ} (Wen
     * and Yin, 2013), followed by one correction: by itself it drifts to 3.5e-3 in 10,000 single-precision steps.
     */
    CAYLEY {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            Tensor wt = Views.transpose(w);
            Tensor pXi = Elementwise.addScaled(xi, Products.matmul(w, Products.matmul(wt, xi)), -0.5);
            Tensor half = Products.matmul(pXi, wt);
            Tensor skew = Elementwise.sub(half, Views.transpose(half));
            Tensor identity = Tensors.identity(w.size(0), w.type(), w.device());
            Tensor right = Elementwise.addScaled(w, Products.matmul(skew, w), 0.5);
            return corrected(Decompositions.solve(Elementwise.addScaled(identity, skew, -0.5), right));
        }
    };

    abstract Tensor move(Tensor w, Tensor xi);

    /** The word, as {@code qr-unsigned}. */
    public String text() {
        return EnumWords.text(this);
    }

    /** Reads {@link #text} back. */
    public static Retraction parse(String text) {
        return EnumWords.parse(Retraction.class, "the retraction", text);
    }

    /** The point reached from W along ξ. */
    public Tensor apply(Tensor w, Tensor xi) {
        if (!w.shape().equals(xi.shape())) {
            throw new IllegalArgumentException(
                    "retraction: the point " + w + " and the tangent vector " + xi + " must be of one shape");
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(move(w, xi));
        }
    }

    private static Tensor choleskyQ(Tensor a) {
        Tensor l = Decompositions.cholesky(Products.matmul(Views.transpose(a), a));
        return Decompositions.solveTriangular(Views.transpose(l), a, true, false);
    }

    /** One Newton–Schulz step towards orthonormal columns, {@code W(3I − WᵀW)/2}. */
    private static Tensor corrected(Tensor w) {
        Tensor gram = Products.matmul(Views.transpose(w), w);
        return Elementwise.addScaled(Elementwise.mul(w, 1.5), Products.matmul(w, gram), -0.5);
    }
}
