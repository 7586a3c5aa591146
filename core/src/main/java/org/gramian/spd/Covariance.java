package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Unbiased covariance of the maps, {@code Σ_ij = ⟨f̄_i, f̄_j⟩/(N−1)} with {@code f̄_i = f_i − mean(f_i)} over N
 * positions, shrunk towards a multiple of the identity: {@code K = (1−a)Σ + a·tr(Σ)/C·I + εI}.
 *
 * <p>Σ has rank N−1 at most. Shrinkage keeps the trace and raises zero eigenvalues (Ledoit, Wolf, "A Well-conditioned
 * Estimator for Large-dimensional Covariance Matrices", Journal of Multivariate Analysis 88, 2004). It is self-adjoint:
 * {@code dL/dΣ = (1−a)G + a·tr(G)/C·I}.
 *
 * @param jitter ε
 * @param shrinkage a, from 0 (none) to 1 (only the trace remains)
 */
public record Covariance(double jitter, double shrinkage) implements Kernel {
    public Covariance {
        Kernel.requireJitter(jitter);
        if (!(shrinkage >= 0 && shrinkage <= 1)) {
            throw new IllegalArgumentException("shrinkage must be a number from 0 to 1, found " + shrinkage);
        }
    }

    /**
     * Creates a covariance without shrinkage.
     *
     * @param jitter ε
     */
    public Covariance(double jitter) {
        this(jitter, 0);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("covariance", maps);
        double factor = 1.0 / (maps.shape().at(2) - 1);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor x = centred(maps.value());
            Tensor covariance = shrunk(Gram.of(x, factor, 0));
            return Result.of(
                    Gram.withJitter(covariance, jitter),
                    // centring is a projection: its adjoint centres again
                    (g, wanted) ->
                            list(centred(Gram.backward(shrinkage == 0 ? g : shrunk(Tensors.copy(g)), x, factor))),
                    x);
        });
    }

    /** Computes {@code (1−a)S + a·tr(S)/C·I} in place. */
    private Tensor shrunk(Tensor matrices) {
        if (shrinkage > 0) {
            Tensor trace = Reductions.sum(Views.diagonal(matrices), 1);
            Elementwise.mulInPlace(matrices, 1 - shrinkage);
            Tensor diagonal = Views.diagonal(matrices);
            diagonal.copyFrom(Elementwise.addScaled(diagonal, trace, shrinkage / matrices.size(1)));
        }
        return matrices;
    }

    private static Tensor centred(Tensor maps) {
        return Elementwise.addScaled(maps, Reductions.sum(maps, 2), -1.0 / maps.size(2));
    }
}
