package org.gramian.spd.layer;

import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Retractions of the {@link Stiefel} manifold: map a point W and a tangent vector ξ to a point of the manifold. All
 * agree to first order in ξ, {@link #QR_UNSIGNED} up to the signs of columns.
 */
public enum Retraction {
    /**
     * Q factor of {@code W + ξ = QR} by Householder reflections, with signs such that {@code diag(R) > 0}: otherwise
     * columns flip at random.
     */
    QR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return Decompositions.orthonormalColumns(w.add(xi), true);
        }
    },
    /**
     * Q factor with the library's signs, as in the paper and the authors' code: columns flip at random, and the
     * momentum of a flipped column has the wrong sign.
     */
    QR_UNSIGNED {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return Decompositions.orthonormalColumns(w.add(xi), false);
        }
    },
    /**
     * Q factor by products: {@code AᵀA = LLᵀ}, {@code Q = A L⁻ᵀ}, applied twice; much faster on a GPU (Yamamoto et al.,
     * 2015). Steps must be moderate, since the condition number of {@code W + ξ} is squared.
     */
    CHOLESKY_QR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            return choleskyQ(choleskyQ(w.add(xi)));
        }
    },
    /** Nearest point, {@code A (AᵀA)^(−1/2)} for {@code A = W + ξ}. */
    POLAR {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            Tensor a = w.add(xi);
            Eigen eigen = Decompositions.symmetricEigen(
                    Decompositions.symmetric(a.transpose().matmul(a)));
            Tensor scaled = eigen.vectors().mul(eigen.values().unsqueeze(0).pow(-0.5));
            return corrected(a.matmul(scaled.matmul(eigen.vectors().transpose())));
        }
    },
    /**
     * Cayley transform {@code (I − ½A)⁻¹(I + ½A)W} of the skew-symmetric {@code A = PξWᵀ − WξᵀP}, {@code P = I − ½WWᵀ}
     * (Wen and Yin, 2013), followed by one correction: without it the error grows to 3.5e-3 in 10,000 float32 steps.
     */
    CAYLEY {
        @Override
        Tensor move(Tensor w, Tensor xi) {
            Tensor wt = w.transpose();
            Tensor pXi = xi.addScaled(w.matmul(wt.matmul(xi)), -0.5);
            Tensor half = pXi.matmul(wt);
            Tensor skew = half.sub(half.transpose());
            Tensor identity = Tensors.identity(w.size(0), w.type(), w.device());
            Tensor right = w.addScaled(skew.matmul(w), 0.5);
            return corrected(Decompositions.solve(identity.addScaled(skew, -0.5), right));
        }
    };

    abstract Tensor move(Tensor w, Tensor xi);

    /** Moves from a point along a tangent vector: W {@code [C, C']} and ξ {@code [C, C']}; returns point on the manifold {@code [C, C']}. */
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
        Tensor l = Decompositions.cholesky(a.transpose().matmul(a));
        return Decompositions.solveTriangular(l.transpose(), a, true, false);
    }

    /** Applies one Newton–Schulz step towards orthonormal columns, {@code W(3I − WᵀW)/2}. */
    private static Tensor corrected(Tensor w) {
        Tensor gram = w.transpose().matmul(w);
        return w.mul(1.5).addScaled(w.matmul(gram), -0.5);
    }
}
