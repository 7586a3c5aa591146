package org.gramian.benchmarks;

import java.io.Serial;

/** Thrown if a side is not available; the table shows the message. */
final class UnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    UnavailableException(String why) {
        super(why);
    }
}
