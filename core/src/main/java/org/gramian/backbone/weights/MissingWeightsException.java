package org.gramian.backbone.weights;

import java.io.IOException;

/** Weights that are not in the store; the message says how to get them there, and is meant for the user as it stands. */
public final class MissingWeightsException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingWeightsException(String message) {
        super(message);
    }
}
