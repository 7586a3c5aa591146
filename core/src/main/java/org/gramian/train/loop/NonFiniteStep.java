package org.gramian.train.loop;

import java.io.Serializable;

/**
 * A non-finite loss or gradient of a step, found before the parameters change.
 *
 * @param gradient whether it is a gradient, not the loss
 * @param origin of the value
 */
public record NonFiniteStep(boolean gradient, NonFinite origin) implements Serializable {
    /** Returns the exception at a step. */
    NonFiniteLossException in(TrainingProgress progress) {
        return gradient
                ? NonFiniteLossException.ofGradient(progress, origin)
                : NonFiniteLossException.ofLoss(progress, origin);
    }
}
