package org.gramian.train;

/**
 * Constants of stochastic gradient descent.
 *
 * @param learningRate step length
 * @param momentum share of the last step that goes on
 * @param weightDecay pull of weights towards 0; never on biases or on the Stiefel manifold
 * @param stiefel how parameters with orthonormal columns are moved
 */
public record SgdOptions(double learningRate, double momentum, double weightDecay, StiefelOptions stiefel) {
    public SgdOptions {
        requireAtLeastZero("learning rate", learningRate);
        requireAtLeastZero("weight decay", weightDecay);
        if (!(momentum >= 0 && momentum < 1)) {
            throw new IllegalArgumentException("momentum must lie in [0, 1), found " + momentum);
        }
    }

    private static void requireAtLeastZero(String what, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException("the " + what + " must be a number of at least 0, found " + value);
        }
    }

    /** Momentum 0.9 and weight decay 5e-4, which the paper does not give and the field uses. */
    public static SgdOptions defaults(double learningRate) {
        return new SgdOptions(learningRate, 0.9, 5e-4, StiefelOptions.defaults());
    }

    /** The same constants with learning rate and weight decay multiplied, as a parameter group asks. */
    SgdOptions times(double rate, double decay) {
        return new SgdOptions(learningRate * rate, momentum, weightDecay * decay, stiefel);
    }

    /** The same constants at another learning rate, as a schedule sets it. */
    public SgdOptions at(double rate) {
        return new SgdOptions(rate, momentum, weightDecay, stiefel);
    }
}
