package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;

/**
 * SPD transformation layer of the paper, {@code Y = WᵀKW}, with {@code K [n, C, C]} symmetric and {@code W [C, C']}
 * with orthonormal columns. Y is positive definite if K is and W has full rank.
 *
 * <p>Backward, with {@code E = dL/dY}: {@code dL/dK = WEWᵀ}, {@code dL/dW = KᵀWE + KWEᵀ}, which equals {@code KW(E +
 * Eᵀ)} since K is symmetric.
 */
public final class SpdTransform {
    private SpdTransform() {}

    /** Computes {@code WᵀKW} for a W with at most as many columns as rows: K {@code [n, C, C]} and W {@code [C, C']} with {@code C' ≤ C}; returns Y {@code [n, C', C']}. */
    public static Var apply(Var matrices, Var weight) {
        Tensor w = weight.value();
        if (w.shape().rank() == 2 && w.size(1) > w.size(0)) {
            throw new IllegalArgumentException("spd transform: C' must not exceed C = " + w.size(0) + ", found C' = "
                    + w.size(1) + " in the weight " + w);
        }
        return free(matrices, weight);
    }

    /**
     * Computes {@code WᵀKW} for any W; with more columns than rows Y is at best semidefinite (Yu, Salzmann,
     * "Second-order Convolutional Neural Networks", 2017).
     *
     * @param matrices K {@code [n, C, C]}
     * @param weight W {@code [C, C']}
     * @return Y {@code [n, C', C']}
     */
    public static Var free(Var matrices, Var weight) {
        Tensor k = matrices.value();
        Tensor w = weight.value();
        if (k.shape().rank() != 3 || k.size(1) != k.size(2) || w.shape().rank() != 2 || w.size(0) != k.size(1)) {
            throw new IllegalArgumentException(
                    "spd transform: expected matrices [n, C, C] and a weight [C, C'], found " + k + " and " + w);
        }
        return matrices.tape().apply(List.of(matrices, weight), () -> {
            Tensor wk = w.transpose().matmul(k);
            Tensor y = timesEach(wk, w);
            return Result.of(
                    y,
                    (e, wanted) -> list(
                            wanted[0] ? timesEach(w.matmul(e), w.transpose()) : null,
                            wanted[1] ? gradientOfWeight(wk, e) : null),
                    wk);
        });
    }

    /** Computes {@code A_i·B} for a batch and one matrix as a single product of tall matrices. */
    static Tensor timesEach(Tensor batch, Tensor b) {
        long n = batch.size(0);
        Tensor rows = batch.reshape(n * batch.size(1), batch.size(2));
        return rows.matmul(b).reshape(n, batch.size(1), b.size(1));
    }

    /** Computes {@code Σ_i (WᵀK_i)ᵀ(E_i + E_iᵀ)} as a single product over the rows of all images. */
    private static Tensor gradientOfWeight(Tensor wk, Tensor e) {
        long rows = wk.size(0) * wk.size(1);
        Tensor left = wk.reshape(rows, wk.size(2));
        Tensor right = e.add(e.transpose()).reshape(rows, e.size(2));
        return left.transpose().matmul(right);
    }
}
