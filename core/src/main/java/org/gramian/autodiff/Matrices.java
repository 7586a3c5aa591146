package org.gramian.autodiff;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/** Differentiable matrix products. */
public final class Matrices {
    private Matrices() {}

    /** {@code A·B} of matrices or of batches; a matrix against a batch is used for each of its members. */
    public static Var matmul(Var a, Var b) {
        return a.tape()
                .apply(
                        List.of(a, b),
                        () -> Result.of(
                                Products.matmul(a.value(), b.value()),
                                (g, wanted) -> list(
                                        wanted[0] ? left(g, a.value(), b.value()) : null,
                                        wanted[1] ? right(g, a.value(), b.value()) : null)));
    }

    /** {@code dA = G·Bᵀ}, summed over the batch where A is one matrix. */
    private static Tensor left(Tensor g, Tensor a, Tensor b) {
        if (a.shape().rank() == 2 && b.shape().rank() == 3) {
            return Products.sumOfProducts(g, Views.transpose(b));
        }
        return Products.matmul(g, Views.transpose(b));
    }

    /** {@code dB = Aᵀ·G}, summed over the batch where B is one matrix. */
    private static Tensor right(Tensor g, Tensor a, Tensor b) {
        if (b.shape().rank() == 2 && a.shape().rank() == 3) {
            return Products.sumOfProducts(Views.transpose(a), g);
        }
        return Products.matmul(Views.transpose(a), g);
    }

    /** {@code x·Wᵀ + b} for rows {@code x [n, d]}, weights {@code W [k, d]} and biases {@code b [k]}. */
    public static Var linear(Var x, Var weight, Var bias) {
        return x.tape().apply(List.of(x, weight, bias), () -> {
            Tensor product = Products.matmul(x.value(), Views.transpose(weight.value()));
            return Result.of(
                    Elementwise.add(product, bias.value()),
                    (g, wanted) -> list(
                            wanted[0] ? Products.matmul(g, weight.value()) : null,
                            wanted[1] ? Products.matmul(Views.transpose(g), x.value()) : null,
                            wanted[2] ? Views.reshape(Reductions.sum(g, 0), g.size(1)) : null));
        });
    }
}
