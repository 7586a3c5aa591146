package org.gramian.pooling;

/** A pooling's text that cannot be read; the message says where, what was expected and what is nearest. */
public final class PoolingSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public PoolingSyntaxException(String message) {
        super(message);
    }
}
