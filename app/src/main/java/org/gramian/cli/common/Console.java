package org.gramian.cli.common;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/**
 * Output of a command: results to standard output, messages and progress to standard error.
 *
 * <p>{@link System#console} tells only about standard input and output together. Linux has a link per stream; elsewhere
 * the console decides whether they are terminals.
 */
public final class Console {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");
    private static final int DEFAULT_COLUMNS = 80;
    private static final String FORMAT = "--log-format";
    private static final Set<String> COMMON = Set.of("-q", FORMAT);

    /** How messages and progress are written to standard error. */
    enum Format {
        TEXT,
        JSON
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = {"-q", "--quiet"},
            description = "print results, warnings and errors only")
    private boolean quiet;

    @Option(
            names = FORMAT,
            paramLabel = "TYPE", // completion takes options of one label for the same
            description = "text, or json: one JSON object per line on standard error (default: text)")
    private Format format = Format.TEXT;

    static boolean isJson(CommandSpec command) {
        OptionSpec option = command.findOption(FORMAT);
        return option != null && option.getValue() == Format.JSON;
    }

    /**
     * Rejects given options that do not apply.
     *
     * @param known options that apply, beside those of every command
     * @param object what does not take the others, such as {@code run/model.safetensors: a detector of anomalies}
     */
    public void requireOnly(Set<String> known, String object) {
        List<String> others = typed(known);
        if (!others.isEmpty()) {
            throw new IllegalArgumentException(object + " does not take " + String.join(", ", others) + "; remove "
                    + (others.size() == 1 ? "it" : "them"));
        }
    }

    /** Returns the names of the given options, without those of every command and some others. */
    public List<String> typed(Set<String> others) {
        return command.commandLine().getParseResult().matchedOptions().stream()
                .map(option -> option.names()[0])
                .filter(name -> !others.contains(name) && !COMMON.contains(name))
                .distinct()
                .toList();
    }

    /** Returns the whole command line, to be typed again. */
    public String line() {
        return CommandHint.of(
                command.root().commandLine().getParseResult().originalArgs().toArray());
    }

    public PrintWriter out() {
        return command.commandLine().getOut();
    }

    /** Prints results to standard output at once. */
    public void print(String results) {
        out().print(results);
        out().flush();
    }

    /** Prints a message, unless {@code --quiet} is given. */
    public void say(String sentence) {
        if (!quiet) {
            report("message", sentence);
        }
    }

    /** Prints a warning, also with {@code --quiet}. */
    public void warn(String sentence) {
        report("warning", sentence);
    }

    /** Prints a line without the command's name, as that of an epoch, unless {@code --quiet} is given. */
    public void line(String text) {
        if (!quiet) {
            println(text);
        }
    }

    private void report(String event, String sentence) {
        if (isJson()) {
            event(event, Map.of("text", sentence));
        } else {
            println(command.qualifiedName() + ": " + CommandHint.in(sentence));
        }
    }

    /** Returns lines whose control characters, as those of file names, do not reach a terminal. */
    static String safe(String lines) {
        return lines.lines().map(QuotedText::visible).collect(Collectors.joining(System.lineSeparator()));
    }

    private void println(String text) {
        PrintWriter err = command.commandLine().getErr();
        err.println(Progress.Bar.eraser() + safe(text));
        err.flush();
    }

    public boolean isJson() {
        return format == Format.JSON;
    }

    /** Whether progress is shown as a bar, on a terminal. */
    public boolean hasBars() {
        return !isJson() && !quiet && isErrorTerminal();
    }

    /** Prints an event as one line of JSON: its time, its name and its values. */
    public void event(String name, Map<String, ?> values) {
        if (quiet && !name.equals("warning")) {
            return;
        }
        PrintWriter err = command.commandLine().getErr();
        err.println(json(name, values));
        err.flush();
    }

    static String json(String name, Map<String, ?> values) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("time", Instant.now().toString());
        event.put("event", name);
        event.putAll(values);
        return JSON.writeValueAsString(event);
    }

    /** Reports unreadable images in rows for programs, unless this terminal shows the rows. */
    public Consumer<String> complaints() {
        return isOutputTerminal() ? _ -> {} : this::warn;
    }

    public Progress progress(String task, long steps) {
        if (quiet) {
            return new Progress.None();
        }
        return hasBars()
                ? new Progress.Bar(task, steps, System.err, Progress.Bar.DELAY)
                : new Progress.Lines(task, steps, command.commandLine().getErr(), isJson(), InstantSource.system());
    }

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

    public static boolean isOutputTerminal() {
        return isTerminal(STANDARD_OUTPUT);
    }

    /** Returns whether standard error is a terminal that can move its cursor. */
    static boolean isErrorTerminal() {
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
