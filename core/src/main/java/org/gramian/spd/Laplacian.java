package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The exponential kernel {@code K_ij = exp(−‖f_i − f_j‖/σ)}, plus {@code εI}.
 *
 * <p>{@code dL/dD_ij = −g_ij K_ij/(2σ d_ij)}, and 0 where the maps are equal.
 *
 * @param sigma width
 * @param jitter ε
 */
public record Laplacian(double sigma, double jitter) implements Kernel {
    public Laplacian {
        new Sigma.Fixed(sigma);
        Kernel.requireJitter(jitter);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("laplacian", maps);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor x = SquaredDistances.centred(maps.value());
            Tensor d = Elementwise.sqrtInPlace(SquaredDistances.squaredOrZero(x));
            Tensor k = Elementwise.expInPlace(Elementwise.mul(d, -1 / sigma));
            Tensors.fill(Views.diagonal(k), 1 + jitter);
            return Result.of(
                    k,
                    (g, wanted) -> {
                        Tensor p = Elementwise.mul(Elementwise.mul(g, k), SquaredDistances.inverseOrZero(d));
                        return list(
                                SquaredDistances.backward(Elementwise.mulInPlace(p, -0.5 / sigma), x, Backward.EXACT));
                    },
                    x,
                    d);
        });
    }
}
