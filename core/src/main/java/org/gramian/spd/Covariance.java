package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;

/**
 * The unbiased covariance of the maps, {@code K_ij = ⟨f̄_i, f̄_j⟩/(N−1)}, {@code f̄_i = f_i} minus its mean over
 * positions, plus {@code εI}; of rank N−1 at most.
 *
 * @param jitter ε
 */
public record Covariance(double jitter) implements Kernel {
    public Covariance {
        Kernel.requireJitter(jitter);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("covariance", maps);
        double factor = 1.0 / (maps.shape().at(2) - 1);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor x = centred(maps.value());
            return Result.of(
                    Gram.of(x, factor, jitter),
                    // centring is a projection: its adjoint centres again
                    (g, wanted) -> list(centred(Gram.backward(g, x, factor))),
                    x);
        });
    }

    private static Tensor centred(Tensor maps) {
        return Elementwise.addScaled(maps, Reductions.sum(maps, 2), -1.0 / maps.size(2));
    }
}
