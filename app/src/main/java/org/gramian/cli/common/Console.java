package org.gramian.cli.common;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** Output of a command: results to standard output, messages and progress to standard error, see {@link LogOptions}. */
@Command // a mixin without options needs it
public final class Console {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    public PrintWriter out() {
        return command.commandLine().getOut();
    }

    /** Prints a message, unless {@code --quiet} is given. */
    public void say(String sentence) {
        if (!LogOptions.quiet(command)) {
            print("message", sentence);
        }
    }

    /** Prints a warning, also with {@code --quiet}. */
    public void warn(String sentence) {
        print("warning", sentence);
    }

    /** Prints a line without the command's name, as that of an epoch, unless {@code --quiet} is given. */
    public void line(String text) {
        if (!LogOptions.quiet(command)) {
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

    /** Whether messages are JSON objects. */
    public boolean isJson() {
        return LogOptions.json(command);
    }

    /** Whether progress is shown as a bar, on a terminal. */
    public boolean hasBars() {
        return !isJson() && !LogOptions.quiet(command) && Terminal.isStandardError();
    }

    /** Prints an event as one line of JSON: its time, its name and its values. */
    public void event(String name, Map<String, ?> values) {
        if (LogOptions.quiet(command) && !name.equals("warning")) {
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

    /** Shows the progress of a task. */
    public Progress progress(String task, long steps) {
        if (LogOptions.quiet(command)) {
            return new Progress.None();
        }
        PrintWriter err = command.commandLine().getErr();
        return Terminal.isStandardError() && !isJson()
                ? new Progress.Bar(task, steps, System.err)
                : new Progress.Lines(task, steps, err, isJson());
    }
}
