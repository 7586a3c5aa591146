package org.gramian.cli;

import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.gramian.basis.FileNames;
import org.gramian.cli.command.AuditCommand;
import org.gramian.cli.command.BackbonesCommand;
import org.gramian.cli.command.CacheCommand;
import org.gramian.cli.command.DoctorCommand;
import org.gramian.cli.command.EmbedCommand;
import org.gramian.cli.command.EvaluateCommand;
import org.gramian.cli.command.ExplainCommand;
import org.gramian.cli.command.ExportCommand;
import org.gramian.cli.command.MethodsCommand;
import org.gramian.cli.command.NearestCommand;
import org.gramian.cli.command.PredictCommand;
import org.gramian.cli.command.ReportCommand;
import org.gramian.cli.command.ServeCommand;
import org.gramian.cli.command.ShowCommand;
import org.gramian.cli.command.WeightsCommand;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.HelpLayout;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.UsageErrors;
import org.gramian.cli.common.Version;
import org.gramian.cli.train.CompareCommand;
import org.gramian.cli.train.DemoCommand;
import org.gramian.cli.train.ExtendCommand;
import org.gramian.cli.train.TrainCommand;
import org.gramian.cli.train.TrainOptions;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The command line {@code gramian} and its exit codes. */
@Command(
        name = "gramian",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Second-order image classification: train, evaluate and serve models on your own images.",
        synopsisSubcommandLabel = "COMMAND",
        footer = """

                Options of a command: gramian COMMAND --help. On Apache Spark: gramian spark --help.
                Exit codes: 0 success; 1 failed check or internal error; 2 wrong options, configuration or files;
                3 data errors, or unreadable images were skipped; 4 missing or unusable model or weights;
                5 interrupted, can be resumed.
                Environment: GRAMIAN_LIBTORCH, GRAMIAN_CACHE, GRAMIAN_WEIGHTS, GRAMIAN_JAVA_OPTS;
                GRAMIAN_DEBUG=1 prints stack traces, NO_COLOR=1 turns colours off.""")
public final class Main implements Runnable {
    /** The class of a command has its name, with {@code Command} behind it. */
    private static final List<Class<?>> COMMANDS = List.of(
            DemoCommand.class,
            DoctorCommand.class,
            AuditCommand.class,
            BackbonesCommand.class,
            MethodsCommand.class,
            WeightsCommand.class,
            CacheCommand.class,
            TrainCommand.class,
            ExtendCommand.class,
            EvaluateCommand.class,
            CompareCommand.class,
            ReportCommand.class,
            PredictCommand.class,
            NearestCommand.class,
            ExplainCommand.class,
            EmbedCommand.class,
            ServeCommand.class,
            ExportCommand.class,
            ShowCommand.class);

    private static final String EXIT_CODES = """

        Exit codes: 0 success; 1 internal error; 2 wrong options or configuration; 3 data errors, or unreadable
        images were skipped; 4 missing or unusable weights; 5 interrupted: resume with --resume, a table with
        the same command.\
        """;

    private static final String TRAIN_OPTIONS =
            "--backbone --weights --pooling --quality --epochs --fine-tune --lr --batch --augment "
                    + "--image-size --out --resume --good-only --false-alarms --time-budget --dry-run --device --seed --quiet --help-all";

    private static final String COMPARE_OPTIONS =
            "--json --methods --preset --baseline --backbone --weights --protocol --quality "
                    + "--out --dry-run --device --seed --help-all";

    @Spec
    private CommandSpec spec;

    private Main() {}

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Runs one command and exits with its code. */
    public static void main(String[] arguments) {
        // picocli's own writer does not report lost output.
        PrintWriter out = new PrintWriter(Failures.standardOutput(), true, System.out.charset());
        Interruption.announce(text -> System.err.println(Progress.Bar.eraser() + "gramian: " + text));
        Interruption.exit(commandLineFor(arguments).setOut(out).execute(arguments));
    }

    /** Returns the command line with all commands, help texts and error handlers. */
    public static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    /**
     * Returns the command line for some arguments: with one command if they begin with its name. To read the options of all commands
     * takes longer than to classify an image.
     */
    static CommandLine commandLineFor(String... arguments) {
        List<Class<?>> called = COMMANDS.stream()
                .filter(type -> arguments.length > 0 && type.getSimpleName().equalsIgnoreCase(arguments[0] + "Command"))
                .toList();
        return commandLine(called.isEmpty() ? COMMANDS : called);
    }

    private static CommandLine commandLine(List<Class<?>> commands) {
        CommandLine line = new CommandLine(new Main());
        commands.forEach(line::addSubcommand);
        if (commands.size() > 1) {
            addBuiltIn(
                    line,
                    "completion",
                    new AutoComplete.GenerateCompletion(),
                    "Print a completion script for bash and zsh.");
            addBuiltIn(line, "help", new CommandLine.HelpCommand(), "Show the help of a command.");
        }
        line.setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(Path.class, Main::path)
                .registerConverter(Integer.class, Main::integer)
                .registerConverter(int.class, Main::integer)
                .registerConverter(long.class, Main::longInteger)
                .setUsageHelpWidth(120)
                .setParameterExceptionHandler(UsageErrors::report)
                .setExecutionStrategy(Failures::run)
                .setExecutionExceptionHandler(Failures::report);
        HelpLayout.groupCommands(line);
        line.getSubcommands().forEach(Main::addHelp);
        return line;
    }

    private static int integer(String text) {
        long value = longInteger(text);
        if (value != (int) value) {
            throw new TypeConversionException("'" + text + "' is not a whole number of at most " + Integer.MAX_VALUE);
        }
        return (int) value;
    }

    /** Parses ASCII digits; Java's own parsing accepts those of every script. */
    private static long longInteger(String text) {
        if (!text.matches("[+-]?\\d{1,18}")) {
            throw new TypeConversionException("'" + text + "' is not a whole number");
        }
        return Long.parseLong(text);
    }

    private static void addBuiltIn(CommandLine line, String name, Object command, String header) {
        line.addSubcommand(name, command);
        CommandLine added = Objects.requireNonNull(line.getSubcommands().get(name));
        added.setCommandName(name).getCommandSpec().usageMessage().header(header);
    }

    private static void addHelp(String name, CommandLine command) {
        String footer = switch (name) {
            case "doctor" -> HelpLayout.stages();
            case "audit", "embed" -> HelpLayout.layouts();
            case "evaluate" -> HelpLayout.protocols() + HelpLayout.crops() + HelpLayout.layouts();
            case "train", "compare" ->
                TrainOptions.keys() + HelpLayout.protocols() + HelpLayout.crops() + HelpLayout.layouts() + EXIT_CODES;
            default -> "";
        };
        if (!footer.isEmpty()) {
            command.getCommandSpec().usageMessage().footer(footer.split("\n", -1));
        }
        if (name.equals("train")) {
            HelpLayout.shorten(command, "[OPTIONS] DIR | --resume RUN", TRAIN_OPTIONS);
        } else if (name.equals("compare")) {
            HelpLayout.shorten(
                    command,
                    "[OPTIONS] RESULT RESULT... | DIR... --methods ROWS | DIR... --preset WORD",
                    COMPARE_OPTIONS);
        }
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException wrong) {
            throw new CommandLine.TypeConversionException(
                    FileNames.isUtf8() ? String.valueOf(wrong.getMessage()) : FileNames.problem(text));
        }
    }
}
