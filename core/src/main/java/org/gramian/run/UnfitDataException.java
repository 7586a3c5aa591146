package org.gramian.run;

/** Thrown if the images do not suffice for the settings. The message has what is missing and what to try. */
public final class UnfitDataException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnfitDataException(String message) {
        super(message);
    }

    UnfitDataException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
    }
}
