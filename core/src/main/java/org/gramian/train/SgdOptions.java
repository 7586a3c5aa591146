package org.gramian.train;

/** Constants of stochastic gradient descent. */
public record SgdOptions(double learningRate, double momentum, double weightDecay, StiefelOptions stiefel)
        implements OptimizerOptions {

    /** Returns momentum 0.9 and weight decay 5e-4, usual values that the paper does not give. */
    public static SgdOptions defaults(double learningRate) {
        return new SgdOptions(learningRate, 0.9, 5e-4, StiefelOptions.defaults());
    }

    @Override
    public SgdOptions times(double rate, double decay) {
        return new SgdOptions(learningRate * rate, momentum, weightDecay * decay, stiefel);
    }

    @Override
    public SgdOptions at(double rate) {
        return new SgdOptions(rate, momentum, weightDecay, stiefel);
    }
}
