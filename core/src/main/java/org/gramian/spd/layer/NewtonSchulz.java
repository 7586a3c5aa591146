package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

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

    /**
     * Computes the approximate inverse square root.
     *
     * @param matrices S {@code [n, C, C]}, positive definite
     * @param iterations number of iterations
     * @return {@code S^(−½) [n, C, C]}
     */
    public static Var inverseSquareRoot(Var matrices, int iterations) {
        return iterate(matrices, iterations, true);
    }

    private static Var iterate(Var matrices, int iterations, boolean inverse) {
        if (iterations < 1) {
            throw new IllegalArgumentException("isqrt: expected at least 1 iteration, found " + iterations);
        }
        return matrices.tape().apply(List.of(matrices), () -> {
            Tensor s = Decompositions.symmetric(matrices.value());
            Tensor trace = Elementwise.atLeast(trace(s), SMALLEST_TRACE);
            Tensor scale = Elementwise.pow(trace, inverse ? -0.5 : 0.5);
            Tensor identity = identity(s);
            List<Step> steps = new ArrayList<>();
            Tensor y = Elementwise.div(s, trace);
            Tensor z = Views.expand(Views.unsqueeze(identity, 0), s.shape().sizes());
            for (int i = 0; i < iterations; i++) {
                Tensor t = Elementwise.addScaled(Elementwise.mul(identity, 1.5), Products.matmul(z, y), -0.5);
                steps.add(new Step(y, z, t));
                boolean last = i == iterations - 1; // of the last Y and Z only one is used
                y = last && inverse ? y : Products.matmul(y, t);
                z = last && !inverse ? z : Products.matmul(t, z);
            }
            Tensor last = inverse ? z : y;
            List<Tensor> saved = new ArrayList<>(List.of(s, trace, scale, last));
            steps.forEach(step -> saved.addAll(List.of(step.y(), step.z(), step.t())));
            return new Result(Elementwise.mul(last, scale), saved, (g, wanted) -> {
                Tensor ofLast = Elementwise.mul(g, scale);
                Tensor zero = Elementwise.mul(ofLast, 0);
                Tensor first = inverse ? reverse(steps, zero, ofLast) : reverse(steps, ofLast, zero);
                Tensor ofScale = Elementwise.div(inner(ofLast, last), Elementwise.mul(trace, inverse ? -2 : 2));
                Tensor ofTrace =
                        Elementwise.sub(ofScale, Elementwise.div(inner(first, s), Elementwise.mul(trace, trace)));
                Tensor moving = Elementwise.where(Elementwise.greater(trace, SMALLEST_TRACE), ofTrace, 0);
                Tensor ds = Elementwise.add(Elementwise.div(first, trace), Elementwise.mul(identity(s), moving));
                return list(Decompositions.symmetric(ds));
            });
        });
    }

    /** Propagates the gradients of the last Y and Z to the first Y. */
    private static Tensor reverse(List<Step> steps, Tensor ofY, Tensor ofZ) {
        Tensor gy = ofY;
        Tensor gz = ofZ;
        for (Step step : steps.reversed()) {
            Tensor tt = Views.transpose(step.t());
            Tensor gt = Elementwise.add(
                    Products.matmul(Views.transpose(step.y()), gy), Products.matmul(gz, Views.transpose(step.z())));
            Tensor formerY = Products.matmul(gy, tt);
            Tensor formerZ = Products.matmul(tt, gz);
            gy = Elementwise.addScaled(formerY, Products.matmul(Views.transpose(step.z()), gt), -0.5);
            gz = Elementwise.addScaled(formerZ, Products.matmul(gt, Views.transpose(step.y())), -0.5);
        }
        return gy;
    }

    private static Tensor identity(Tensor like) {
        return Tensors.identity(like.size(-1), like.type(), like.device());
    }

    /** Computes the traces {@code [n, 1, 1]}. */
    private static Tensor trace(Tensor matrices) {
        return Views.unsqueeze(Reductions.sum(Views.diagonal(matrices), -1), -1);
    }

    /** Computes {@code Σ_ij a_ij b_ij} per matrix, {@code [n, 1, 1]}. */
    private static Tensor inner(Tensor a, Tensor b) {
        return Reductions.sum(Elementwise.mul(a, b), 1, 2);
    }
}
