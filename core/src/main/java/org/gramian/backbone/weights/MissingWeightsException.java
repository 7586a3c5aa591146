package org.gramian.backbone.weights;

import java.io.IOException;

/** Thrown if weights are not in the store; the message names the command that gets them. */
public final class MissingWeightsException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingWeightsException(String message) {
        super(message);
    }
}
