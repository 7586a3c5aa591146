package org.gramian.train.loop;

/** Training was stopped while there was no model to show: nothing of the training itself is lost, and it can go on. */
public final class InterruptedTrainingException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Cancellation.Reason reason;

    /** The only constructor: by one without parameters a parallel stream would make the exception anew, without its reason. */
    public InterruptedTrainingException(Cancellation.Reason reason) {
        super(
                switch (reason) {
                    case ASKED -> "training was interrupted";
                    case OUT_OF_TIME -> "the time budget ended before there was a model";
                });
        this.reason = reason;
    }

    /** Why it was stopped. */
    public Cancellation.Reason reason() {
        return reason;
    }
}
