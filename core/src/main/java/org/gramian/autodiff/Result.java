package org.gramian.autodiff;

import java.util.Arrays;
import java.util.List;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Value of a function with its adjoint.
 *
 * @param value value of the function
 * @param saved tensors that the adjoint uses besides inputs and value; other temporaries are freed
 * @param adjoint maps the gradient of the value to the gradients of the inputs
 * @since 0.1
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

    /** Backward pass of a function: from the gradient of its value to the gradients of its inputs. */
    @FunctionalInterface
    public interface Adjoint {
        /**
         * Computes the gradients of the inputs, in their order.
         *
         * @param upstream gradient of the loss with respect to the value, of its shape
         * @param wanted which inputs need a gradient; others are ignored and may be null
         */
        List<@Nullable Tensor> gradients(Tensor upstream, boolean[] wanted);

        /** Returns a list of gradients, some of which may be null. */
        static List<@Nullable Tensor> list(@Nullable Tensor... gradients) {
            return Arrays.asList(gradients);
        }
    }
}
