package org.gramian.train.loop;

/**
 * Training cannot go on: the loss, or a gradient of it, is no finite number. The message says where that arose and what to
 * try.
 */
public final class NonFiniteLossException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private NonFiniteLossException(String what, TrainingProgress position, NonFinite origin) {
        super(what + " is NaN or infinite in stage " + position.stage() + ", epoch " + (position.epoch() + 1)
                + ", step " + (position.step() + 1) + ": " + origin.text());
    }

    static NonFiniteLossException ofLoss(TrainingProgress position, NonFinite origin) {
        return new NonFiniteLossException("the loss", position, origin);
    }

    static NonFiniteLossException ofGradient(TrainingProgress position, NonFinite origin) {
        return new NonFiniteLossException("a gradient of the loss", position, origin);
    }
}
