package org.gramian.train;

import org.gramian.autodiff.ParameterSet;

/**
 * Parameters that are moved alike: a backbone at a tenth of the head's rate, say.
 *
 * @param parameters the parameters
 * @param rate factor on the learning rate
 * @param decay factor on the weight decay
 */
public record ParameterGroup(ParameterSet parameters, double rate, double decay) {
    public ParameterGroup {
        if (!(rate >= 0) || !(decay >= 0) || Double.isInfinite(rate + decay)) {
            throw new IllegalArgumentException(
                    "the factors of a parameter group must be at least 0, found rate " + rate + " and decay " + decay);
        }
    }

    /** A group that is moved at the optimizer's own rate and decay. */
    public static ParameterGroup of(ParameterSet parameters) {
        return new ParameterGroup(parameters, 1, 1);
    }
}
