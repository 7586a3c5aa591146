package org.gramian.autodiff;

import java.util.List;
import org.gramian.tensor.Tensor;

/**
 * What a function computed: its value, and the way back.
 *
 * @param value the function's value
 * @param saved tensors other than inputs and value that the adjoint uses; everything else made on the way is freed
 * @param adjoint from the gradient of the value to those of the inputs
 */
public record Result(Tensor value, List<Tensor> saved, Adjoint adjoint) {
    /** A result whose adjoint needs nothing but inputs, the value and what is listed. */
    public static Result of(Tensor value, Adjoint adjoint, Tensor... saved) {
        return new Result(value, List.of(saved), adjoint);
    }
}
