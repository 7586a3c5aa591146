package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;

/** Ends work whose results reach nobody. */
final class Written {
    static final String LOST = "cannot write results: the disk is full, or the reading program has exited";

    private Written() {}

    /** Stops the command if its output is lost. */
    static void require(PrintWriter results) {
        if (results.checkError()) {
            throw new UncheckedIOException(new IOException(LOST));
        }
    }
}
