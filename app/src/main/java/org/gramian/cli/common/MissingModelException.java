package org.gramian.cli.common;

import java.io.IOException;

/** A place where a model was expected and none is. */
public final class MissingModelException extends IOException {
    private static final long serialVersionUID = 1L;

    public MissingModelException(String message) {
        super(message);
    }
}
