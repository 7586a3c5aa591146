package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Sparse inverse covariance estimation by an unrolled iteration, iSICE (Rahman, Koniusz, Wang, Zhou, Moghadam, Sun,
 * "Learning Partial Correlation based Deep Visual Representation for Image Classification", CVPR 2023).
 *
 * <p>Approximates {@code argmin_S tr(JS) − log det S + λ‖S‖₁} for the covariance Σ with unit trace, {@code J = (Σ +
 * εI)/(tr Σ + Cε)}, by projected gradient steps on the positive and the negative part of S. From {@code S = J⁻¹}, for k =
 * 0, …, n−2:
 *
 * <pre>{@code
 * G = J - S^(-1),  h = rate·(1 - k/(n-1))
 * S = max(0, max(0, S) - h(G + λ)) - max(0, max(0, -S) - h(λ - G))
 * S = (S + S^T)/2
 * }</pre>
 *
 * <p>The result is {@code S/√(tr S)}. Inverses are {@code ZZ} of the inverse root Z of {@value #ROOT_ITERATIONS}
 * Newton–Schulz iterations, so that the inverse of a singular J is bounded. Published with n steps, of which the last
 * has size 0 and is left out here. ε = 1e-6/C makes J the scaled identity for a blank image, where the authors add
 * random numbers of 1e-9 to the diagonal. A large λ may leave S indefinite.
 */
public final class SparseInverse {
    /** Newton–Schulz iterations of an inverse root, as published. */
    public static final int ROOT_ITERATIONS = 7;

    private SparseInverse() {}

    /**
     * Estimates the sparse inverse.
     *
     * @param matrices Σ {@code [n, C, C]}, positive semidefinite
     * @param iterations n, at least 2
     * @param sparsity λ
     * @param rate size of the first step
     * @return {@code [n, C, C]}
     */
    public static Var of(Var matrices, int iterations, double sparsity, double rate) {
        Tensor like = matrices.value();
        Var unit = matrices.tape()
                .apply(
                        List.of(),
                        () -> Result.of(
                                Tensors.identity(like.size(1), like.type(), like.device()), (g, wanted) -> list()));
        Var raised = matrices.add(unit.mul(NewtonSchulz.SMALLEST_TRACE / like.size(1)));
        Var j = raised.div(trace(raised, unit));
        Var s = inverse(j);
        for (int k = 0; k < iterations - 1; k++) {
            double h = rate * (1 - k / (iterations - 1.0));
            Var step = j.sub(inverse(s)).mul(h);
            Var minus = s.mul(-1);
            Var positive = shrunk(s.relu().sub(step), h * sparsity);
            Var negative = shrunk(minus.relu().add(step), h * sparsity);
            Var moved = positive.sub(negative);
            s = moved.add(moved.transpose(1, 2)).mul(0.5);
        }
        Var trace = trace(s, unit).relu().add(NewtonSchulz.SMALLEST_TRACE);
        return s.div(trace.sqrt());
    }

    /** Computes {@code max(0, x − amount)}. */
    private static Var shrunk(Var x, double amount) {
        return x.add(-amount).relu();
    }

    private static Var inverse(Var matrices) {
        Var root = NewtonSchulz.inverseSquareRoot(matrices, ROOT_ITERATIONS);
        return root.matmul(root);
    }

    /** Computes the traces {@code [n, 1, 1]}. */
    private static Var trace(Var matrices, Var identity) {
        return matrices.mul(identity).sum(1, 2);
    }
}
