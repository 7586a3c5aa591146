package org.gramian.cli;

import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.gramian.basis.FileNames;
import org.gramian.basis.NearestWord;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** The program {@code gramian}: its commands hang below this one. */
@Command(
        name = "gramian",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        description = "Second-order image classification.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "On a cluster, or over tables: gramian spark predict, embed, audit, train; see gramian spark --help.",
            "Exit codes: 0 done; 1 a check failed, or the program did; 2 usage: wrong options, configuration or files;",
            "3 data: something that would spoil training, or images that could not be read and were left out;",
            "4 model: a model or weights that are missing or cannot be used; 5 interrupted, and can be resumed.",
            "Environment: GRAMIAN_LIBTORCH, GRAMIAN_CACHE, GRAMIAN_WEIGHTS, GRAMIAN_JAVA_OPTS;",
            "GRAMIAN_DEBUG=1 shows stack traces."
        },
        subcommands = {
            DemoCommand.class,
            DoctorCommand.class,
            AuditCommand.class,
            BackbonesCommand.class,
            MethodsCommand.class,
            FidelityCommand.class,
            WeightsCommand.class,
            CacheCommand.class,
            FeaturesCommand.class,
            TrainCommand.class,
            EvaluateCommand.class,
            CompareCommand.class,
            ReportCommand.class,
            PredictCommand.class,
            NearestCommand.class,
            ExplainCommand.class,
            EmbedCommand.class,
            ServeCommand.class,
            ExportCommand.class,
            ShowCommand.class,
            PoolCommand.class,
            GradcheckCommand.class,
            BenchCommand.class
        })
public final class Main implements Runnable {
    /** The commands' exit codes. */
    static final int DONE = 0;

    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int DATA = 3;
    static final int MODEL = 4;
    static final int INTERRUPTED = 5;

    private static final String EXIT_CODES = """

            Exit codes: 0 done; 1 the program failed; 2 wrong options or configuration; 3 images that would spoil
            training, or that could not be read and were left out; 4 weights that are missing or cannot be used;
            5 interrupted: go on by --resume, with a table by the same command.""";

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    private Main() {}

    /** Without a command: the help. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        // Not picocli's own writer, which never learns that what it wrote is lost.
        PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
        Interruption.exit(commandLine().setOut(out).execute(arguments));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(Path.class, Main::path)
                .setUsageHelpWidth(120)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionStrategy(Failures::run)
                .setExecutionExceptionHandler(Failures::say);
        footer(line, PoolCommand.stages(), "pool", "gradcheck");
        footer(line, Listings.layouts(), "audit", "embed");
        footer(line, Listings.crops() + Listings.layouts(), "features");
        footer(line, Listings.protocols() + Listings.crops() + Listings.layouts(), "evaluate");
        footer(
                line,
                TrainOptions.keys() + Listings.protocols() + Listings.crops() + Listings.layouts() + EXIT_CODES,
                "train",
                "compare");
        return line;
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException wrong) {
            throw new CommandLine.TypeConversionException(
                    FileNames.isUtf8() ? String.valueOf(wrong.getMessage()) : FileNames.problem(text));
        }
    }

    private static void footer(CommandLine line, String text, String... commands) {
        for (String command : commands) {
            Objects.requireNonNull(line.getSubcommands().get(command))
                    .getCommandSpec()
                    .usageMessage()
                    .footer(text.split("\n", -1));
        }
    }

    private static void suggest(CommandLine.UnmatchedArgumentException wrong, PrintWriter err) {
        String typed = wrong.getUnmatched().getFirst().replaceFirst("=.*", "");
        CommandSpec command = wrong.getCommandLine().getCommandSpec();
        NearestWord.of(
                        typed,
                        typed.startsWith("-")
                                ? command.optionsMap().keySet()
                                : command.subcommands().keySet())
                .ifPresent(name -> err.println("did you mean '" + name + "'?"));
    }

    private static String sentence(CommandLine.ParameterException wrong) {
        return wrong instanceof CommandLine.OverwrittenOptionException twice
                        && twice.getOverwritten() instanceof OptionSpec option
                ? RepeatedOptions.sentence(option.longestName())
                : Objects.toString(wrong.getMessage());
    }

    /** A wrong command line: what is wrong, what may have been meant, and where help is; not the whole help. */
    private static int misused(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        err.println(command + ": " + sentence(wrong));
        if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched) {
            suggest(unmatched, err);
        }
        Object[] help = (command + " --help").split(" ", -1);
        err.println("try '" + CommandHint.of(Arrays.copyOfRange(help, 1, help.length)) + "'");
        return USAGE;
    }
}
