package org.gramian.linear;

/** Thrown where rows do not determine a classifier, as a covariance without an inverse; the message says what to try. */
public final class UnsolvableException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    UnsolvableException(String message) {
        super(message);
    }
}
