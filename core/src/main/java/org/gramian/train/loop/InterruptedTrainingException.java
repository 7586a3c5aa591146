package org.gramian.train.loop;

/** Thrown if training is interrupted before there is a model. No training is lost, and it can be resumed. */
public final class InterruptedTrainingException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Cancellation.Reason reason;

    /** The only constructor: a parallel stream would recreate the exception by one without parameters, and lose the reason. */
    public InterruptedTrainingException(Cancellation.Reason reason) {
        super(
                switch (reason) {
                    case CANCELLED -> "training was interrupted";
                    case OUT_OF_TIME -> "the time budget ended before there was a model";
                });
        this.reason = reason;
    }

    public Cancellation.Reason reason() {
        return reason;
    }
}
