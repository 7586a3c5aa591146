package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether somebody watches standard output or standard error.
 *
 * <p>Java knows a terminal only as standard input and output together. Linux tells of each stream, by a link; elsewhere
 * Java's answer has to do.
 */
final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    private Terminal() {}

    static boolean isStandardOutput() {
        return isTerminal(STANDARD_OUTPUT);
    }

    static boolean isStandardError() {
        return isTerminal(STANDARD_ERROR);
    }

    /** Whether a link of {@code /proc} leads to a terminal; where there is no such link, whether Java sees one. */
    @SuppressWarnings("SystemConsoleNull") // it is null again without a terminal, as before Java 22
    static boolean isTerminal(Path link) {
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.matches("/dev/(pts/\\d+|tty.*|console)");
        } catch (IOException | UnsupportedOperationException notLinux) {
            return System.console() != null && System.console().isTerminal();
        }
    }
}
