package org.gramian.backbone.weights;

import java.io.IOException;

/** Thrown for an unusable weight file; the message is that of the reader. */
public final class UnusableWeightsException extends IOException {
    private static final long serialVersionUID = 1L;

    public UnusableWeightsException(Exception cause) {
        super(cause.getMessage(), cause);
    }
}
