package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

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
 * @since 0.1
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
        Var mean = sums.sum(2).mul(1.0 / m.size(2)).add(SMALLEST_MEAN);
        Var products = sums.div(mean);
        Var target = products.add(MARGIN).pow(gamma);
        for (int i = 0; i < iterations; i++) {
            if (i > 0) {
                products = forms(maps, weighted(maps, weights)).div(mean);
            }
            Var influence = weights.mul(products.add(weights.mul(MARGIN)));
            weights = weights.mul(target.div(influence).sqrt());
        }
        Var k = weighted(maps, weights);
        return maps.tape()
                .apply(List.of(k), () -> Result.of(Gram.withJitter(k.value().copy(), jitter), (g, wanted) -> list(g)));
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
            Tensor product = x.mul(a).matmul(x.transpose());
            return Result.of(
                    product.mulInPlace(share),
                    (g, wanted) -> list(
                            wanted[0] ? Gram.backward(g, x, share).mulInPlace(a) : null,
                            wanted[1] ? forms(x, g).mulInPlace(share) : null));
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
                                                ? Gram.backward(matrices.value(), x, 1)
                                                        .mulInPlace(g)
                                                : null,
                                        wanted[1] ? x.mul(g).matmul(x.transpose()) : null)));
    }

    private static Tensor forms(Tensor x, Tensor matrices) {
        return matrices.matmul(x).mulInPlace(x).sum(1);
    }
}
