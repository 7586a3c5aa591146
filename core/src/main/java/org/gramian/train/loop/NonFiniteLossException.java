package org.gramian.train.loop;

/** Thrown if the loss or a gradient is NaN or infinite. The message has the origin of the value and advice. */
public final class NonFiniteLossException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private NonFiniteLossException(String what, TrainingProgress progress, NonFinite origin) {
        super(what + " is NaN or infinite in stage " + progress.stage() + ", epoch " + (progress.epoch() + 1)
                + ", step " + (progress.step() + 1) + ": " + origin.text());
    }

    static NonFiniteLossException ofLoss(TrainingProgress progress, NonFinite origin) {
        return new NonFiniteLossException("the loss", progress, origin);
    }

    static NonFiniteLossException ofGradient(TrainingProgress progress, NonFinite origin) {
        return new NonFiniteLossException("a gradient of the loss", progress, origin);
    }
}
