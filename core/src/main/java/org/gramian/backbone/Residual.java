package org.gramian.backbone;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Shape;

/**
 * Residual block, {@code activation(body(x) + shortcut(x))} (He et al., "Deep Residual Learning for Image Recognition",
 * CVPR 2016).
 *
 * @param name name of the layer
 * @param body residual branch
 * @param shortcut shortcut; an empty chain is the identity
 * @param activation activation of the sum
 */
public record Residual(String name, Chain body, Chain shortcut, Activation activation) implements NetworkLayer {
    @Override
    public long channels(long entering) {
        return body.channels(entering);
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return Stream.of(body, shortcut)
                .flatMap(way -> way.parameters(entering).stream())
                .toList();
    }

    @Override
    public Shape output(Shape maps) {
        return body.output(maps);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return FeatureMaps.add(body.apply(maps, parameters), shortcut.apply(maps, parameters), activation);
    }
}
