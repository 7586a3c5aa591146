package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Gaussian embedding of the positions, {@code K = [[Σ + μμᵀ, μ], [μᵀ, 1]] + εI} of size C+1, with the mean μ over
 * positions and the covariance Σ with denominator N.
 *
 * <p>K is {@code AAᵀ/N} for {@code A = [M; 1]}, the maps {@code M [n, C, N]} with a row of ones. Backward: {@code
 * dL/dM} is {@code (G + Gᵀ)A/N} without its last row. Reference: Wang, Li, Zhang, "G2DeNet: Global Gaussian
 * Distribution Embedding Network", CVPR 2017.
 *
 * @param jitter ε
 */
public record Gaussian(double jitter) implements Kernel {
    public Gaussian {
        Kernel.requireJitter(jitter);
    }

    @Override
    public long size(long channels) {
        return channels + 1;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("gaussian", maps);
        double factor = 1.0 / maps.shape().at(2);
        return maps.tape().apply(List.of(maps), () -> {
            Tensor m = maps.value();
            Tensor ones = Tensors.full(1, Shape.of(m.size(0), 1, m.size(2)), m.type(), m.device());
            Tensor a = Views.concat(List.of(m, ones), 1);
            return Result.of(
                    Gram.of(a, factor, jitter),
                    (g, wanted) -> list(Views.slice(Gram.backward(g, a, factor), 1, 0, m.size(1))),
                    a);
        });
    }
}
