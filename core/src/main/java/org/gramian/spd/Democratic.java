package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * γ-democratic aggregation of the positions, {@code K = Σ_p α_p x_p x_pᵀ / N + εI} with weights that balance the
 * contributions of the positions: {@code α_p Σ_q α_q (x_pᵀx_q)² = s_p^γ}, {@code s_p = Σ_q (x_pᵀx_q)²} of mean 1 (Lin,
 * Maji, Koniusz, "Second-order Democratic Aggregation", ECCV 2018; γ = 0: Murray, Jégou, Perronnin, Zisserman,
 * "Interferences in Match Kernels", PAMI 2017).
 *
 * <p>γ = 1 is {@link Kernel.Bilinear}; γ = 0 gives each position the same influence. The damped Sinkhorn iteration is
 * {@code α ← α∘√(s^γ / (α∘Qα))} from {@code α = 1}. Its products with the {@code N×N} matrix Q are quadratic forms,
 * {@code (Qα)_p = x_pᵀ A x_p} with {@code A = Σ_q α_q x_q x_qᵀ}: nothing of size {@code N×N} exists. Dividing Q by the
 * mean of s changes all α of an image by one factor. A margin of {@value #MARGIN} on the diagonal of Q keeps the weight
 * of a position with {@code x_p = 0} finite. Gradients flow through the iterations.
 *
 * @param gamma γ, from 0 to 1
 * @param iterations number of Sinkhorn iterations, 10 in the paper
 * @param jitter ε
 */
public record Democratic(double gamma, int iterations, double jitter) implements Kernel {
    public static final double DEFAULT_GAMMA = 0.5;
    public static final int DEFAULT_ITERATIONS = 10;

    /** Added to the diagonal of Q, whose rows have the mean sum 1. */
    public static final double MARGIN = 1e-6;

    /** Added to the mean of s, which is 0 for a blank image. */
    public static final double SMALLEST_MEAN = 1e-12;

    public Democratic {
        Kernel.requireJitter(jitter);
        if (!(gamma >= 0 && gamma <= 1) || iterations < 1) {
            throw new IllegalArgumentException("democratic: expected gamma from 0 to 1 and at least 1 iteration, found"
                    + " gamma " + gamma + " and " + iterations);
        }
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("democratic", maps);
        Tensor m = maps.value();
        Shape perPosition = m.shape().with(1, 1);
        Var weights = maps.tape()
                .apply(
                        List.of(),
                        () -> Result.of(Tensors.full(1, perPosition, m.type(), m.device()), (g, wanted) -> list()));
        Var sums = forms(maps, weighted(maps, weights));
        Var mean = Arithmetic.shift(Arithmetic.scale(Arithmetic.sum(sums, 2), 1.0 / m.size(2)), SMALLEST_MEAN);
        Var products = Arithmetic.div(sums, mean);
        Var target = Arithmetic.pow(Arithmetic.shift(products, MARGIN), gamma);
        for (int i = 0; i < iterations; i++) {
            if (i > 0) {
                products = Arithmetic.div(forms(maps, weighted(maps, weights)), mean);
            }
            Var influence = Arithmetic.mul(weights, Arithmetic.add(products, Arithmetic.scale(weights, MARGIN)));
            weights = Arithmetic.mul(weights, Arithmetic.sqrt(Arithmetic.div(target, influence)));
        }
        Var k = weighted(maps, weights);
        return maps.tape()
                .apply(
                        List.of(k),
                        () -> Result.of(Gram.withJitter(Tensors.copy(k.value()), jitter), (g, wanted) -> list(g)));
    }

    /**
     * Computes {@code A = Σ_p α_p x_p x_pᵀ / N [n, C, C]}; backward {@code dα_p = x_pᵀGx_p/N}, {@code dX = (G + Gᵀ)X
     * diag(α)/N}.
     *
     * @param maps X {@code [n, C, N]}
     * @param weights α {@code [n, 1, N]}
     */
    private static Var weighted(Var maps, Var weights) {
        Tensor x = maps.value();
        Tensor a = weights.value();
        double share = 1.0 / x.size(2);
        return maps.tape().apply(List.of(maps, weights), () -> {
            Tensor product = Products.matmul(Elementwise.mul(x, a), Views.transpose(x));
            return Result.of(
                    Elementwise.mulInPlace(product, share),
                    (g, wanted) -> list(
                            wanted[0] ? Elementwise.mulInPlace(Gram.backward(g, x, share), a) : null,
                            wanted[1] ? Elementwise.mulInPlace(forms(x, g), share) : null));
        });
    }

    /**
     * Computes {@code x_pᵀ A x_p [n, 1, N]}; backward {@code dA = X diag(g) Xᵀ}, {@code dX = (A + Aᵀ)X diag(g)}.
     *
     * @param maps X {@code [n, C, N]}
     * @param matrices A {@code [n, C, C]}
     */
    private static Var forms(Var maps, Var matrices) {
        Tensor x = maps.value();
        return maps.tape()
                .apply(
                        List.of(maps, matrices),
                        () -> Result.of(
                                forms(x, matrices.value()),
                                (g, wanted) -> list(
                                        wanted[0]
                                                ? Elementwise.mulInPlace(Gram.backward(matrices.value(), x, 1), g)
                                                : null,
                                        wanted[1]
                                                ? Products.matmul(Elementwise.mul(x, g), Views.transpose(x))
                                                : null)));
    }

    private static Tensor forms(Tensor x, Tensor matrices) {
        return Reductions.sum(Elementwise.mulInPlace(Products.matmul(matrices, x), x), 1);
    }
}
