package org.gramian.linear;

/** Thrown if the rows do not determine a classifier, e.g. for a singular covariance; the message says what to try. */
public final class UnsolvableException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnsolvableException(String message) {
        super(message);
    }
}
