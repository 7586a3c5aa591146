package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/** Differentiable matrix products. */
public final class Matrices {
    private Matrices() {}

    /**
     * Computes {@code A·B} of matrices or batches; a single matrix is broadcast over a batch.
     *
     * <p>Backward: {@code dA = G·Bᵀ}, {@code dB = Aᵀ·G}, summed over the batch for a broadcast matrix.
     */
    public static Var matmul(Var a, Var b) {
        return a.tape().apply(List.of(a, b), () -> {
            Tensor product = Products.matmul(a.value(), b.value());
            return Result.of(
                    product,
                    (g, wanted) -> list(
                            wanted[0] ? left(g, a.value(), b.value()) : null,
                            wanted[1] ? right(g, a.value(), b.value()) : null));
        });
    }

    /** Computes {@code dA = G·Bᵀ}, summed over the batch if A is one matrix. */
    private static Tensor left(Tensor g, Tensor a, Tensor b) {
        if (a.shape().rank() == 2 && b.shape().rank() == 3) {
            return Products.sumOfProducts(g, Views.transpose(b));
        }
        return Products.matmul(g, Views.transpose(b));
    }

    /** Computes {@code dB = Aᵀ·G}, summed over the batch if B is one matrix. */
    private static Tensor right(Tensor g, Tensor a, Tensor b) {
        if (b.shape().rank() == 2 && a.shape().rank() == 3) {
            return Products.sumOfProducts(Views.transpose(a), g);
        }
        return Products.matmul(Views.transpose(a), g);
    }

    /**
     * Computes {@code x·Wᵀ + b}.
     *
     * @param x rows {@code [n, d]}
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [n, k]}
     */
    public static Var linear(Var x, Var weight, Var bias) {
        return x.tape().apply(List.of(x, weight, bias), () -> {
            // not Products.linear: cuBLAS splits long sums of small results only in a product without bias
            Tensor product = Products.matmul(x.value(), Views.transpose(weight.value()));
            return Result.of(Elementwise.add(product, bias.value()), (g, wanted) -> {
                List<@Nullable Tensor> ofParameters = x.tape()
                        .parameterGradients(
                                List.of(weight, bias),
                                List.of(g, x.value()),
                                () -> list(
                                        wanted[1] ? Products.matmul(Views.transpose(g), x.value()) : null,
                                        wanted[2] ? Reductions.columnSums(g) : null));
                return list(
                        wanted[0] ? Products.matmul(g, weight.value()) : null,
                        ofParameters.get(0),
                        ofParameters.get(1));
            });
        });
    }
}
