package org.gramian.backbone;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.ResponseNorm;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Local response normalization across channels.
 *
 * @param name name of the layer
 * @param norm constants
 */
public record ResponseNormalization(String name, ResponseNorm norm) implements NetworkLayer {
    @Override
    public long channels(long entering) {
        return entering;
    }

    @Override
    public Shape output(Shape maps) {
        return maps;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return FeatureMaps.localResponseNorm(maps, norm);
    }
}
