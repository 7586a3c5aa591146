package org.gramian.spd;

import org.gramian.tensor.Tensor;

/** Gram matrices {@code S = factor·XXᵀ + εI} and their adjoint, shared by the kernels of inner products. */
final class Gram {
    private Gram() {}

    /** Computes {@code factor·XXᵀ + εI}. */
    static Tensor of(Tensor x, double factor, double jitter) {
        Tensor product = x.matmul(x.transpose());
        return withJitter(product.mulInPlace(factor), jitter);
    }

    /** Computes {@code dX = factor·(G + Gᵀ)X}. */
    static Tensor backward(Tensor g, Tensor x, double factor) {
        Tensor gx = g.matmul(x);
        gx.addProducts(1, 1, g.transpose(), x);
        return gx.mulInPlace(factor);
    }

    /** Adds ε to the diagonals in place. */
    static Tensor withJitter(Tensor matrices, double jitter) {
        if (jitter > 0) {
            Tensor diagonal = matrices.diagonal();
            diagonal.copyFrom(diagonal.add(jitter));
        }
        return matrices;
    }
}
