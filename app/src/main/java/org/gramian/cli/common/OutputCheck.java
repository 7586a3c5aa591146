package org.gramian.cli.common;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;

/** Ends work whose output is lost. */
public final class OutputCheck {
    static final String LOST = "cannot write results: the disk is full, or the reading program has exited";

    private static volatile boolean readerExited;

    private OutputCheck() {}

    /** Returns standard output; unlike {@link System#out} it keeps why writing failed. */
    public static OutputStream standardOutput() {
        return new BufferedOutputStream(new FilterOutputStream(new FileOutputStream(FileDescriptor.out)) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                try {
                    out.write(bytes, offset, length);
                } catch (IOException failed) {
                    readerExited |= "Broken pipe".equals(failed.getMessage());
                    throw failed;
                }
            }
        });
    }

    /** Returns whether the reading program has exited, as {@code head} does: it has all that it wants. */
    static boolean readerExited() {
        return readerExited;
    }

    /** Stops the command if its output is lost. */
    public static void require(PrintWriter results) {
        if (results.checkError()) {
            throw new UncheckedIOException(new IOException(LOST));
        }
    }

    /** Returns whether a failure only means that output is lost. */
    static boolean isCause(Exception failure) {
        return failure instanceof UncheckedIOException
                && failure.getCause() instanceof IOException lost
                && LOST.equals(lost.getMessage());
    }
}
