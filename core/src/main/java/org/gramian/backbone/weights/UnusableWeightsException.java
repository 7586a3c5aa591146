package org.gramian.backbone.weights;

import java.io.IOException;

/** A file of weights that cannot be used; the message is what its reader said, and is meant for the user as it stands. */
public final class UnusableWeightsException extends IOException {
    private static final long serialVersionUID = 1L;

    public UnusableWeightsException(Exception said) {
        super(said.getMessage(), said);
    }
}
