package org.gramian.train;

import java.util.Map;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/** Formula by which an {@link Optimizer} moves parameters, with its constants. */
public sealed interface OptimizerRule permits Sgd, AdamW {
    double learningRate();

    /** Weight decay; applies to {@code Role.WEIGHT} alone, never to biases or on the Stiefel manifold. */
    double weightDecay();

    StiefelOptions stiefel();

    /** Decay of the running mean of gradients: the momentum of SGD, β₁ of AdamW. */
    double momentum();

    /** Returns the same constants at another learning rate, as a schedule sets it. */
    OptimizerRule at(double rate);

    /** Returns the same constants with learning rate and weight decay multiplied, for a parameter group. */
    OptimizerRule times(double rate, double decay);

    /**
     * Computes the next value and state of a parameter. Where its role is not {@code STIEFEL}, the elements are independent,
     * and an {@link Optimizer} may pass some rows at a time.
     *
     * @param state its state by name, empty before the first step
     * @param steps the steps taken, this one included
     */
    Update update(Role role, Tensor value, Tensor gradient, Map<String, Tensor> state, long steps);

    /** Returns the names of the state tensors, with their shapes for a parameter. */
    Map<String, Shape> state(Parameter parameter);

    /** A value and state after a step. */
    record Update(Tensor value, Map<String, Tensor> state) {}
}
