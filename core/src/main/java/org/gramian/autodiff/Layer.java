package org.gramian.autodiff;

import java.util.List;

/** A differentiable function with parameters. */
public interface Layer {
    /**
     * The parameters for inputs of the given number of channels: maps {@code [n, c, p]}, matrices {@code [n, c, c]} or
     * vectors {@code [n, c]}. Most layers have none.
     */
    default List<ParameterSpec> parameters(long channels) {
        return List.of();
    }

    /** The function itself; the bindings hold a variable for each of the parameters. */
    Var apply(Var input, Bindings parameters);
}
