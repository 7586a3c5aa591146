package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Square root and inverse square root of positive definite matrices by Newton–Schulz iteration, iSQRT-COV (Li, Xie,
 * Wang, Gao, "Towards Faster Training of Global Covariance Pooling Networks by Iterative Matrix Square Root
 * Normalization", CVPR 2018).
 *
 * <p>From {@code Y = S/tr S}, {@code Z = I}: {@code T = (3I − ZY)/2, Y ← YT, Z ← TZ}; the root is {@code √(tr S)·Y}, the
 * inverse root {@code Z/√(tr S)}. Eigenvalues of {@code S/tr S} far below {@code 1.5⁻²ᵏ} after k iterations have not
 * converged: the inverse root is at most {@code 1.5ᵏ/√(tr S)}. The adjoint runs the same steps in reverse. The trace is
 * clamped to at least {@link #SMALLEST_TRACE}, and the input is read as {@code sym(S)}.
 */
public final class NewtonSchulz {
    /** Inputs of one iteration and its T. */
    private record Step(Tensor y, Tensor z, Tensor t) {}

    /** Lower bound of the trace: the covariance of a blank image is 0, and so is its root. */
    public static final double SMALLEST_TRACE = 1e-6;

    private NewtonSchulz() {}

    /**
     * Computes the approximate square root.
     *
     * @param matrices S {@code [n, C, C]}, positive definite
     * @param iterations number of iterations, 5 in the paper
     * @return {@code S^½ [n, C, C]}
     */
    public static Var squareRoot(Var matrices, int iterations) {
        return iterate(matrices, iterations, false);
    }

    /** Computes the approximate inverse square root: S {@code [n, C, C]}, positive definite; returns {@code S^(−½) [n, C, C]}. */
    public static Var inverseSquareRoot(Var matrices, int iterations) {
        return iterate(matrices, iterations, true);
    }

    private static Var iterate(Var matrices, int iterations, boolean inverse) {
        if (iterations < 1) {
            throw new IllegalArgumentException("isqrt: expected at least 1 iteration, found " + iterations);
        }
        return matrices.tape().apply(List.of(matrices), () -> {
            Tensor s = Decompositions.symmetric(matrices.value());
            Tensor trace = trace(s).atLeast(SMALLEST_TRACE);
            Tensor scale = trace.pow(inverse ? -0.5 : 0.5);
            Tensor identity = identity(s);
            List<Step> steps = new ArrayList<>();
            Tensor y = s.div(trace);
            Tensor z = identity.unsqueeze(0).expand(s.shape().sizes());
            for (int i = 0; i < iterations; i++) {
                Tensor t = identity.mul(1.5).addScaled(z.matmul(y), -0.5);
                steps.add(new Step(y, z, t));
                boolean last = i == iterations - 1; // of the last Y and Z only one is used
                y = last && inverse ? y : y.matmul(t);
                z = last && !inverse ? z : t.matmul(z);
            }
            Tensor last = inverse ? z : y;
            List<Tensor> saved = new ArrayList<>(List.of(s, trace, scale, last));
            steps.forEach(step -> saved.addAll(List.of(step.y(), step.z(), step.t())));
            return new Result(last.mul(scale), saved, (g, wanted) -> {
                Tensor ofLast = g.mul(scale);
                Tensor zero = ofLast.mul(0);
                Tensor first = inverse ? reverse(steps, zero, ofLast) : reverse(steps, ofLast, zero);
                Tensor ofScale = inner(ofLast, last).div(trace.mul(inverse ? -2 : 2));
                Tensor ofTrace = ofScale.sub(inner(first, s).div(trace.mul(trace)));
                Tensor moving = Tensors.where(trace.greater(SMALLEST_TRACE), ofTrace, 0);
                Tensor ds = first.div(trace).add(identity(s).mul(moving));
                return list(Decompositions.symmetric(ds));
            });
        });
    }

    /** Propagates the gradients of the last Y and Z to the first Y. */
    private static Tensor reverse(List<Step> steps, Tensor ofY, Tensor ofZ) {
        Tensor gy = ofY;
        Tensor gz = ofZ;
        for (Step step : steps.reversed()) {
            Tensor tt = step.t().transpose();
            Tensor gt = step.y().transpose().matmul(gy).add(gz.matmul(step.z().transpose()));
            Tensor formerY = gy.matmul(tt);
            Tensor formerZ = tt.matmul(gz);
            gy = formerY.addScaled(step.z().transpose().matmul(gt), -0.5);
            gz = formerZ.addScaled(gt.matmul(step.y().transpose()), -0.5);
        }
        return gy;
    }

    private static Tensor identity(Tensor like) {
        return Tensors.identity(like.size(-1), like.type(), like.device());
    }

    /** Computes the traces {@code [n, 1, 1]}. */
    private static Tensor trace(Tensor matrices) {
        return matrices.diagonal().sum(-1).unsqueeze(-1);
    }

    /** Computes {@code Σ_ij a_ij b_ij} per matrix, {@code [n, 1, 1]}. */
    private static Tensor inner(Tensor a, Tensor b) {
        return a.mul(b).sum(1, 2);
    }
}
