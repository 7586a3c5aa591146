package org.gramian.cli.common;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options {@code --quiet} and {@code --log-format} of commands that run for a while. */
public final class LogOptions {
    /** How messages and progress are written to standard error. */
    enum Format {
        TEXT,
        JSON
    }

    private static final String QUIET = "--quiet";
    private static final String FORMAT = "--log-format";

    private LogOptions() {}

    /** Adds the options to those of some commands that the command line has. */
    public static void install(CommandLine root, String... commands) {
        List<String> names = List.of(commands);
        root.getSubcommands().forEach((name, command) -> {
            if (names.contains(name)) {
                add(command.getCommandSpec());
            }
        });
    }

    private static void add(CommandSpec command) {
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

    static boolean quiet(CommandSpec command) {
        return Boolean.TRUE.equals(value(command, QUIET));
    }

    static boolean json(CommandSpec command) {
        return value(command, FORMAT) == Format.JSON;
    }

    private static @Nullable Object value(CommandSpec command, String name) {
        OptionSpec option = command.findOption(name);
        return option == null ? null : option.getValue();
    }
}
