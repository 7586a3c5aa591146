package org.gramian.cli;

import java.io.IOException;

/** A place where a model was expected and none is. */
final class MissingModelException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingModelException(String message) {
        super(message);
    }
}
