package org.gramian.autodiff;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of a convolution.
 *
 * @param weight {@code [k, c/groups, s, t]}
 * @param bias {@code [k]}, or none
 */
public record Filters(Var weight, @Nullable Var bias) {
    /** The input of the convolution and these, as inputs of one node. */
    List<Var> with(Var input) {
        return bias == null ? List.of(input, weight) : List.of(input, weight, bias);
    }
}
