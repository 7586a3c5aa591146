package org.gramian.spd;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;

/**
 * Bilinear kernel of B-CNN, {@code K = MMᵀ/N + εI} (Lin, RoyChowdhury, Maji, "Bilinear CNN Models for Fine-grained
 * Visual Recognition", ICCV 2015).
 *
 * @param jitter ε
 */
public record Bilinear(double jitter) implements Kernel {
    public Bilinear {
        Kernel.requireJitter(jitter);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Kernel.requireMaps("bilinear", maps);
        double factor = 1.0 / maps.shape().at(2);
        return maps.tape()
                .apply(
                        List.of(maps),
                        () -> Result.of(
                                Gram.of(maps.value(), factor, jitter),
                                (g, wanted) -> list(Gram.backward(g, maps.value(), factor))));
    }
}
