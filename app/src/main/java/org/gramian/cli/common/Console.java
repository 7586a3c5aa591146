package org.gramian.cli.common;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Output of a command: results to standard output, messages and progress to standard error. */
@Command // a mixin without options needs it
public final class Console {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String QUIET = "--quiet";
    private static final String FORMAT = "--log-format";

    /** How messages and progress are written to standard error. */
    enum Format {
        TEXT,
        JSON
    }

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Looked up once: there is an event for every pass of a solver. */
    private @Nullable Boolean json;

    /** Adds the options {@code --quiet} and {@code --log-format} to those of some commands that the command line has. */
    public static void addOptions(CommandLine root, String... commands) {
        List<String> names = List.of(commands);
        root.getSubcommands().forEach((name, command) -> {
            if (names.contains(name)) {
                addOptions(command.getCommandSpec());
            }
        });
    }

    private static void addOptions(CommandSpec command) {
        command.addOption(OptionSpec.builder("-q", QUIET)
                        .type(boolean.class)
                        .description("print results, warnings and errors only")
                        .build())
                .addOption(OptionSpec.builder(FORMAT)
                        .type(Format.class)
                        .paramLabel("TYPE") // completion takes options of one label for the same
                        .description("text, or json: one JSON object per line on standard error (default: text)")
                        .build());
    }

    private boolean isQuiet() {
        return Boolean.TRUE.equals(value(command, QUIET));
    }

    static boolean isJson(CommandSpec command) {
        return value(command, FORMAT) == Format.JSON;
    }

    private static @Nullable Object value(CommandSpec command, String name) {
        OptionSpec option = command.findOption(name);
        return option == null ? null : option.getValue();
    }

    public PrintWriter out() {
        return command.commandLine().getOut();
    }

    /** Prints a message, unless {@code --quiet} is given. */
    public void say(String sentence) {
        if (!isQuiet()) {
            print("message", sentence);
        }
    }

    /** Prints a warning, also with {@code --quiet}. */
    public void warn(String sentence) {
        print("warning", sentence);
    }

    /** Prints a line without the command's name, as that of an epoch, unless {@code --quiet} is given. */
    public void line(String text) {
        if (!isQuiet()) {
            println(text);
        }
    }

    private void print(String event, String sentence) {
        if (isJson()) {
            event(event, Map.of("text", sentence));
        } else {
            println(command.qualifiedName() + ": " + CommandHint.in(sentence));
        }
    }

    private void println(String text) {
        PrintWriter err = command.commandLine().getErr();
        err.println(Progress.Bar.eraser() + text);
        err.flush();
    }

    public boolean isJson() {
        Boolean known = json;
        if (known == null) {
            known = isJson(command);
            json = known;
        }
        return known;
    }

    /** Whether progress is shown as a bar, on a terminal. */
    public boolean hasBars() {
        return !isJson() && !isQuiet() && Terminal.isStandardError();
    }

    /** Prints an event as one line of JSON: its time, its name and its values. */
    public void event(String name, Map<String, ?> values) {
        if (isQuiet() && !name.equals("warning")) {
            return;
        }
        PrintWriter err = command.commandLine().getErr();
        err.println(json(name, values));
        err.flush();
    }

    /** Returns an event as one line of JSON. */
    static String json(String name, Map<String, ?> values) {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("time", Instant.now().toString());
        event.put("event", name);
        event.putAll(values);
        return JSON.writeValueAsString(event);
    }

    /** Reports unreadable images, unless their rows on this terminal show it already. */
    public Consumer<String> complaints() {
        return Terminal.isStandardOutput() ? _ -> {} : this::warn;
    }

    public Progress progress(String task, long steps) {
        if (isQuiet()) {
            return new Progress.None();
        }
        PrintWriter err = command.commandLine().getErr();
        return Terminal.isStandardError() && !isJson()
                ? new Progress.Bar(task, steps, System.err)
                : new Progress.Lines(task, steps, err, isJson());
    }
}
