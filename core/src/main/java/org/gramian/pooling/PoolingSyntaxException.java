package org.gramian.pooling;

/** Thrown for an invalid pooling text; the message names the position, the expected form and the nearest word. */
public final class PoolingSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public PoolingSyntaxException(String message) {
        super(message);
    }
}
