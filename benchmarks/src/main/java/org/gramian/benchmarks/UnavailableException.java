package org.gramian.benchmarks;

import java.io.Serial;

/** A side that cannot do the work here; the message says why, and stands in the table instead of numbers. */
final class UnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    UnavailableException(String why) {
        super(why);
    }
}
