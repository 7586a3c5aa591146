package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;

/** Ends work whose results reach nobody. */
final class Written {
    static final String LOST =
            "the results cannot be written further: the disk may be full, or the program that reads them has ended";

    private Written() {}

    /** Whoever reads the results may have gone; computing more of them would help nobody. */
    static void require(PrintWriter results) {
        if (results.checkError()) {
            throw new UncheckedIOException(new IOException(LOST));
        }
    }
}
