package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * Layer of a network, from feature maps {@code [n, c, h, w]} to feature maps {@code [n, c', h', w']}.
 *
 * <p>The interface is sealed, so that an exporter can handle all kinds in an exhaustive switch.
 */
public sealed interface NetworkLayer
        permits Conv, Pool, ResponseNormalization, Dense, Chain, Branches, Residual, FilterBank {
    /** Returns the name, unique in the network. */
    String name();

    /**
     * Returns the number of output channels c'.
     *
     * @param entering number of input channels c
     */
    long channels(long entering);

    /**
     * Returns the parameters under their full names.
     *
     * @param entering number of input channels c
     */
    default List<ParameterSpec> parameters(long entering) {
        return List.of();
    }

    /**
     * Returns the output shape {@code [c', h', w']}; a side is 0 if the input is too small.
     *
     * @param maps input shape {@code [c, h, w]}
     */
    Shape output(Shape maps);

    /**
     * Applies the layer.
     *
     * @param maps {@code [n, c, h, w]}
     * @param parameters variables under their full names
     * @return {@code [n, c', h', w']}
     */
    Var apply(Var maps, Bindings parameters);
}
