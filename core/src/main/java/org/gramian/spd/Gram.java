package org.gramian.spd;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/** Gram matrices {@code S = factor·XXᵀ + εI} and their adjoint, shared by the kernels of inner products. */
final class Gram {
    private Gram() {}

    /** Computes {@code factor·XXᵀ + εI}. */
    static Tensor of(Tensor x, double factor, double jitter) {
        Tensor product = Products.matmul(x, Views.transpose(x));
        return withJitter(Elementwise.mulInPlace(product, factor), jitter);
    }

    /** Computes {@code dX = factor·(G + Gᵀ)X}. */
    static Tensor backward(Tensor g, Tensor x, double factor) {
        Tensor gx = Products.matmul(g, x);
        Products.addProducts(gx, 1, 1, Views.transpose(g), x);
        return Elementwise.mulInPlace(gx, factor);
    }

    /** Adds ε to the diagonals in place. */
    static Tensor withJitter(Tensor matrices, double jitter) {
        if (jitter > 0) {
            Tensor diagonal = Views.diagonal(matrices);
            diagonal.copyFrom(Elementwise.add(diagonal, jitter));
        }
        return matrices;
    }
}
