package org.gramian.train;

/** Constants of an {@link Optimizer}: learning rate, weight decay, steps on the Stiefel manifold, and those of its own rule. */
public sealed interface OptimizerOptions permits SgdOptions, AdamWOptions {
    double learningRate();

    /** Weight decay; applies to {@code Role.WEIGHT} alone, never to biases or on the Stiefel manifold. */
    double weightDecay();

    StiefelOptions stiefel();

    /** Decay of the running mean of gradients: the momentum of SGD, β₁ of AdamW. */
    double momentum();

    /** Returns the same constants at another learning rate, as a schedule sets it. */
    OptimizerOptions at(double rate);

    /** Returns the same constants with learning rate and weight decay multiplied, for a parameter group. */
    OptimizerOptions times(double rate, double decay);
}
