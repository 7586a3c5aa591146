package org.gramian.spd.layer;

import java.util.function.UnaryOperator;
import org.gramian.spd.SpectralFunction;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Riemannian barycenter of positive definite matrices with the affine-invariant metric, {@code G = argmin Σ_i ‖log(G^(−½)
 * S_i G^(−½))‖²}, by the Karcher flow {@code G ← G^½ exp(mean_i log(G^(−½) S_i G^(−½))) G^½} from the arithmetic mean
 * (Moakher, "A Differential Geometric Approach to the Geometric Mean of Symmetric Positive-Definite Matrices", SIAM
 * Journal on Matrix Analysis and Applications 26, 2005).
 */
public final class Barycenter {
    private static final int MAX_STEPS = 50;

    /** The flow ends when the largest entry of a step, the mean logarithm, is below this. */
    private static final double TOLERANCE = 1e-11;

    private Barycenter() {}

    /**
     * Computes {@code G^(−½)}, which maps the barycenter to the identity.
     *
     * @param matrices {@code [n, C, C]}; eigenvalues below {@link SpectralFunction#DEFAULT_FLOOR} or 16 rounding errors
     *     of the largest count as these
     * @return float64 {@code [C, C]} on the CPU
     */
    public static Tensor inverseRoot(Tensor matrices) {
        try (Scope scope = Scope.open()) {
            Tensor exact = matrices.to(DType.F64).to(Device.CPU);
            Tensor s = floored(Decompositions.symmetric(exact), matrices.type());
            Tensor g = mean(s);
            Tensor inverseRoot = of(g, x -> x.pow(-0.5));
            double change = Double.POSITIVE_INFINITY;
            for (int i = 0; i < MAX_STEPS && change > TOLERANCE; i++) {
                Tensor whitened = inverseRoot.matmul(s).matmul(inverseRoot);
                Tensor step = mean(of(whitened, Tensor::log));
                Tensor root = of(g, Tensor::sqrt);
                g = root.matmul(of(step, Tensor::exp)).matmul(root);
                inverseRoot = of(g, x -> x.pow(-0.5));
                change = step.largestMagnitude();
            }
            return scope.keep(inverseRoot);
        }
    }

    /** Computes the arithmetic mean {@code [C, C]}. */
    private static Tensor mean(Tensor matrices) {
        Tensor sum = matrices.sum(0);
        return sum.reshape(sum.size(1), sum.size(2)).mul(1.0 / matrices.size(0));
    }

    private static Tensor floored(Tensor matrices, DType given) {
        double relative = SpectralFunction.ROUNDINGS * given.epsilon();
        return of(matrices, values -> {
            Tensor floors = values.max(-1).mul(relative);
            return values.maximum(floors.atLeast(SpectralFunction.DEFAULT_FLOOR));
        });
    }

    /** Computes {@code U f(Λ) Uᵀ}. */
    private static Tensor of(Tensor matrices, UnaryOperator<Tensor> function) {
        Eigen eigen = Decompositions.symmetricEigen(Decompositions.symmetric(matrices));
        Tensor u = eigen.vectors();
        Tensor values = function.apply(eigen.values()).unsqueeze(-2);
        return u.mul(values).matmul(u.transpose());
    }
}
