package org.gramian.autodiff;

import java.util.List;
import org.gramian.tensor.Tensor;

/**
 * Value of a function with its adjoint.
 *
 * @param value value of the function
 * @param saved tensors that the adjoint uses besides inputs and value; other temporaries are freed
 * @param adjoint maps the gradient of the value to the gradients of the inputs
 */
public record Result(Tensor value, List<Tensor> saved, Adjoint adjoint) {
    /**
     * Creates a result.
     *
     * @param value value of the function
     * @param adjoint maps the gradient of the value to the gradients of the inputs
     * @param saved tensors that the adjoint uses besides inputs and value
     */
    public static Result of(Tensor value, Adjoint adjoint, Tensor... saved) {
        return new Result(value, List.of(saved), adjoint);
    }
}
