package org.gramian.autodiff;

import java.util.List;

/**
 * Differentiable function with parameters.
 *
 * @since 0.1
 */
public interface Layer {
    /**
     * Returns the parameters for an input with the given number of channels; most layers have none.
     *
     * @param channels c of feature maps {@code [batch, c, positions]}, matrices {@code [batch, c, c]} or vectors {@code
     *     [batch, c]}
     */
    default List<ParameterSpec> parameters(long channels) {
        return List.of();
    }

    /**
     * Applies the layer.
     *
     * @param input feature maps, matrices or vectors
     * @param parameters a variable for each of the parameters
     */
    Var apply(Var input, Bindings parameters);
}
