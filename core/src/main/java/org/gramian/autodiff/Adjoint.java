package org.gramian.autodiff;

import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** Backward pass of one function, from the gradient of its value to the gradients of its inputs. */
@FunctionalInterface
public interface Adjoint {
    /**
     * Gradients of the inputs, in their order.
     *
     * @param upstream gradient of the final number with respect to the function's result, of the result's shape
     * @param wanted which inputs want a gradient; for others the answer is ignored and may be null
     */
    List<@Nullable Tensor> gradients(Tensor upstream, boolean[] wanted);

    /** A list of gradients in which some may be absent. */
    static List<@Nullable Tensor> list(@Nullable Tensor... gradients) {
        return Arrays.asList(gradients);
    }
}
