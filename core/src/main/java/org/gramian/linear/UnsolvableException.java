package org.gramian.linear;

/** Thrown if the rows do not determine a classifier, as with a singular covariance; the message names what to try. */
public final class UnsolvableException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnsolvableException(String message) {
        super(message);
    }
}
