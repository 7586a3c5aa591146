package org.gramian.cli.common;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Detects whether standard output or standard error is a terminal, and its width.
 *
 * <p>{@link System#console} tells only about standard input and output together. Linux has a link per stream; elsewhere
 * the console decides.
 */
public final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    private static final int DEFAULT_COLUMNS = 80;

    private Terminal() {}

    /**
     * Returns the width of the terminal, or 80 if it is unknown.
     *
     * <p>Asks {@code stty}: the progress bar's terminal library resets the handler of SIGINT while it is open, and Ctrl-C would
     * end a training run without a checkpoint.
     */
    static int columns() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(new File("/dev/tty"))
                    .start();
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .strip()
                    .split(" ", -1); // rows and columns
            int columns = size.length == 2 ? Integer.parseInt(size[1]) : 0;
            return columns > 0 ? columns : DEFAULT_COLUMNS;
        } catch (IOException | NumberFormatException unknown) {
            return DEFAULT_COLUMNS;
        }
    }

    public static boolean isStandardOutput() {
        return isTerminal(STANDARD_OUTPUT);
    }

    /** Returns whether standard error is a terminal that can move its cursor. */
    static boolean isStandardError() {
        return !"dumb".equals(System.getenv("TERM")) && isTerminal(STANDARD_ERROR);
    }

    /** Returns whether a link of {@code /proc} leads to a terminal; without such a link, whether Java sees one. */
    @SuppressWarnings("SystemConsoleNull") // it is null again without a terminal, as before Java 22
    public static boolean isTerminal(Path link) {
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.matches("/dev/(pts/\\d+|tty.*|console)");
        } catch (IOException | UnsupportedOperationException notLinux) {
            return System.console() != null && System.console().isTerminal();
        }
    }
}
