package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells whether standard output or standard error is a terminal.
 *
 * <p>Java only knows about standard input and output together. Linux has a link for each stream; elsewhere Java's answer is used.
 */
final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    private Terminal() {}

    static boolean isStandardOutput() {
        return isTerminal(STANDARD_OUTPUT);
    }

    static boolean isStandardError() {
        return !"dumb".equals(System.getenv("TERM")) && isTerminal(STANDARD_ERROR);
    }

    /** Returns whether a link of {@code /proc} leads to a terminal; without such a link, whether Java sees one. */
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
