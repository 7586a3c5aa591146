package org.gramian.autodiff;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Filters of a convolution.
 *
 * @param weight {@code [filters, channels / groups, height, width]}
 * @param bias {@code [filters]}, or null
 */
public record Filters(Var weight, @Nullable Var bias) {
    /** Returns the input of the convolution and the filters as inputs of one node. */
    List<Var> with(Var input) {
        return bias == null ? List.of(input, weight) : List.of(input, weight, bias);
    }
}
