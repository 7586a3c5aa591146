package org.gramian.tensor.library;

/** Thrown when libtorch cannot be found, unpacked or loaded, or when one of its operators fails. */
public final class LibtorchException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A failure described by its message alone: what was expected, what was found, where, and what to try. */
    public LibtorchException(String message) {
        super(message);
    }

    /** A failure with the exception behind it. */
    public LibtorchException(String message, Throwable cause) {
        super(message, cause);
    }
}
