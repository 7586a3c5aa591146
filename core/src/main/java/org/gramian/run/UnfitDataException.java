package org.gramian.run;

/** The images do not allow what is asked of them; the message says what is missing and what to try. */
public final class UnfitDataException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnfitDataException(String message) {
        super(message);
    }
}
