package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import org.gramian.tensor.library.LibtorchException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
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
            "Exit codes: 0 done, 1 a check failed, 2 wrong usage or input, 3 data that would spoil training.",
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
                .setExecutionExceptionHandler(errors());
        String[] stages = PoolCommand.stages().split("\n", -1);
        for (String withPooling : List.of("pool", "gradcheck")) {
            Objects.requireNonNull(line.getSubcommands().get(withPooling))
                    .getCommandSpec()
                    .usageMessage()
                    .footer(stages);
        }
        return line;
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

    /** What a person did wrong becomes one sentence; what we did wrong says so. */
    private static IExecutionExceptionHandler errors() {
        return (exception, commandLine, parsed) -> {
            PrintWriter err = commandLine.getErr();
            if (System.getenv("GRAMIAN_DEBUG") != null) {
                exception.printStackTrace(err);
            }
            if (exception instanceof IllegalArgumentException
                    || exception instanceof IllegalStateException
                    || exception instanceof IOException
                    || exception instanceof LibtorchException) {
                err.println(commandLine.getCommandSpec().qualifiedName() + ": " + exception.getMessage());
                return WRONG_INPUT;
            }
            err.println(commandLine.getCommandSpec().qualifiedName() + ": internal error: " + exception
                    + "; please report it with what you typed and the output of GRAMIAN_DEBUG=1");
            return FAILED;
        };
    }
}
