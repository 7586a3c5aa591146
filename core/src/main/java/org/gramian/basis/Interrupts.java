package org.gramian.basis;

import java.io.IOException;
import java.io.InterruptedIOException;

/** Interrupts as I/O errors, so that the entry points throw no other checked exception. */
public final class Interrupts {
    private Interrupts() {}

    /** Work that an interrupt ends. */
    public interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    /** Runs work; an interrupt becomes an {@link InterruptedIOException}, and the thread stays interrupted. */
    public static <T> T asIo(String what, Work<T> work) throws IOException {
        try {
            return work.run();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            InterruptedIOException io = new InterruptedIOException(what + ": the thread was interrupted");
            io.initCause(interrupt);
            throw io;
        }
    }
}
