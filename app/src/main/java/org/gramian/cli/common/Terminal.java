package org.gramian.cli.common;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * Detects whether standard output or standard error is a terminal, and its width.
 *
 * <p>{@link System#console} tells only about standard input and output together. Linux has a link per stream; elsewhere
 * the console decides.
 */
public final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    private static final int STANDARD_ERROR_NUMBER = 2;
    private static final int DEFAULT_COLUMNS = 80;

    /** The system call {@code ioctl}, absent on Windows. */
    private static final Optional<MethodHandle> IOCTL = Linker.nativeLinker()
            .defaultLookup()
            .find("ioctl")
            .map(address -> Linker.nativeLinker()
                    .downcallHandle(
                            address,
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.ADDRESS),
                            Linker.Option.firstVariadicArg(2)));

    private Terminal() {}

    /**
     * Returns the width of the terminal at standard error, or 80 if it is unknown.
     *
     * <p>Calls {@code ioctl} itself: the progress bar's terminal library resets the handler of SIGINT while it is open, and
     * Ctrl-C would end a training run without a checkpoint.
     */
    public static int columns() {
        if (IOCTL.isEmpty()) {
            return DEFAULT_COLUMNS;
        }
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        long request = system.startsWith("mac") ? 0x40087468L : 0x5413L; // TIOCGWINSZ
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(ValueLayout.JAVA_SHORT, 4); // rows, columns, width and height in pixels
            int failed = (int) IOCTL.get().invokeExact(STANDARD_ERROR_NUMBER, request, size);
            int columns = Short.toUnsignedInt(size.getAtIndex(ValueLayout.JAVA_SHORT, 1));
            return failed == 0 && columns > 0 ? columns : DEFAULT_COLUMNS;
        } catch (Throwable failed) {
            throw new IllegalStateException("ioctl: " + failed, failed);
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
