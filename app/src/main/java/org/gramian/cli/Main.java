package org.gramian.cli;

import java.io.PrintWriter;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
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
            "Exit codes: 0 done; 1 a check failed, or the program did; 2 wrong usage or input;",
            "3 data: something that would spoil training, or pictures that could not be read and were left out.",
            "Environment: GRAMIAN_LIBTORCH, GRAMIAN_CACHE, GRAMIAN_WEIGHTS, GRAMIAN_JAVA_OPTS;",
            "GRAMIAN_DEBUG=1 shows stack traces."
        },
        subcommands = {
            DoctorCommand.class,
            AuditCommand.class,
            BackbonesCommand.class,
            WeightsCommand.class,
            FeaturesCommand.class,
            PoolCommand.class,
            GradcheckCommand.class
        })
public final class Main implements Runnable {
    /** The commands' exit codes. */
    static final int DONE = 0;

    static final int FAILED = 1;
    static final int WRONG_INPUT = 2;
    static final int SPOILED = 3;

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
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        CommandLine line = new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(110)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionStrategy(Failures::run)
                .setExecutionExceptionHandler(Failures::say);
        footer(line, PoolCommand.stages(), "pool", "gradcheck");
        footer(line, Listings.layouts(), "audit");
        footer(line, Listings.crops() + Listings.layouts(), "features");
        return line;
    }

    private static void footer(CommandLine line, String text, String... commands) {
        for (String command : commands) {
            Objects.requireNonNull(line.getSubcommands().get(command))
                    .getCommandSpec()
                    .usageMessage()
                    .footer(text.split("\n", -1));
        }
    }

    /** A wrong command line: what is wrong, what may have been meant, and where help is; not the whole help. */
    private static int misused(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        err.println(command + ": " + wrong.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("try '" + command + " --help'");
        return WRONG_INPUT;
    }
}
