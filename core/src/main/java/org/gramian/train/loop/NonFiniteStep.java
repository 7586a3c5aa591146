package org.gramian.train.loop;

import java.io.Serializable;

/**
 * A number that is not finite in what a step computed, found before anything was moved.
 *
 * @param gradient whether it is one of a gradient, and not the loss
 * @param origin where it arose
 */
public record NonFiniteStep(boolean gradient, NonFinite origin) implements Serializable {
    NonFiniteLossException in(TrainingProgress position) {
        return gradient
                ? NonFiniteLossException.ofGradient(position, origin)
                : NonFiniteLossException.ofLoss(position, origin);
    }
}
