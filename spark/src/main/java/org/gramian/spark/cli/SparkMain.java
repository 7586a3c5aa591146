package org.gramian.spark.cli;

import java.io.IOException;
import java.io.PrintWriter;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkClassNotFoundException;
import org.apache.spark.SparkException;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.Device.DeviceException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** Main class of {@code gramian spark}, launched by {@code spark-submit}. */
@Command(
        name = "gramian spark",
        mixinStandardHelpOptions = true,
        description = "Runs Gramian's commands on Spark: images in, tables out.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Options of spark-submit can be mixed in: --master (default: local[*], this machine), --conf KEY=VALUE,",
            "--executor-memory, --executor-cores, --num-executors, --jars, --packages, --deploy-mode, --name and"
                    + " others.",
            "Exit codes: 0 success; 1 the program or the job failed; 2 usage: wrong options or paths; 3 unreadable"
                    + " images",
            "(rows with an error), or errors in an audit (0 with --deploy-mode cluster, where a non-zero code",
            "means a failed program); 4 missing or unusable model or weights; 130 Ctrl-C, 143 SIGTERM.",
            "Environment: SPARK_HOME uses that Spark instead of Maven's; GRAMIAN_DEBUG=1 prints stack traces."
        },
        subcommands = {
            ModelCommand.Predict.class,
            ModelCommand.Embed.class,
            SparkAuditCommand.class,
            SparkTrainCommand.class
        })
public final class SparkMain implements Runnable {
    /** Exit codes of all commands, the same as those of {@code gramian}. */
    static final int DONE = 0;

    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int DATA = 3;
    static final int MODEL = 4;
    static final int INTERRUPTED = 5; // not seen outside: during shutdown a signal sets 130 or 143

    @Spec
    private CommandSpec spec;

    private SparkMain() {}

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    /** Runs one command and ends the program with its exit code. */
    public static void main(String[] arguments) {
        int code = commandLine().execute(arguments);
        SparkSession.getDefaultSession().foreach(session -> {
            session.stop();
            return null;
        });
        if (code != DONE) {
            System.exit(code); // not for 0: in cluster mode any call of exit is reported as a failure
        }
    }

    static CommandLine commandLine() {
        return new CommandLine(new SparkMain())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(120)
                .setParameterExceptionHandler(SparkMain::misused)
                .setExecutionExceptionHandler(SparkMain::failed);
    }

    /** Reports a usage error: the message, a suggestion, and the command for help. */
    private static int misused(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        err.println(command + ": " + wrong.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
        err.println("try '" + command + " --help'");
        err.flush();
        return USAGE;
    }

    /**
     * Reports an exception of a command and returns the exit code. Spark wraps exceptions of its tasks, sometimes
     * several times, so the cause that helps the user most is shown.
     */
    static int failed(Exception exception, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        String command = line.getCommandSpec().qualifiedName();
        if (System.getenv("GRAMIAN_DEBUG") != null) {
            exception.printStackTrace(err);
        }
        if (ShutdownHookManager.get().isShutdownInProgress()) {
            err.println(command + ": interrupted");
            err.flush();
            return INTERRUPTED;
        }
        Throwable shown = exception;
        boolean inTask = false;
        for (Throwable cause = exception; cause != null; cause = cause.getCause()) {
            inTask |= cause instanceof SparkException;
            // exceptions of tasks are no user errors, except those of a model file or a device, first opened on an
            // executor
            boolean counts = !inTask || cause instanceof ModelFileException || cause instanceof DeviceException;
            if (counts && code(cause) != FAILED) {
                err.println(command + ": " + firstLine(cause));
                err.flush();
                return code(cause);
            }
            // the innermost message of Gramian, which is written for users, else that of the root cause
            if (!shown.getClass().getName().startsWith("org.gramian.")
                    || cause.getClass().getName().startsWith("org.gramian.")) {
                shown = cause;
            }
        }
        err.println(command + ": the job failed: " + firstLine(shown));
        err.println("see the logs of driver and executors; GRAMIAN_DEBUG=1 prints the stack trace");
        err.flush();
        return FAILED;
    }

    /** Returns the exit code of an exception on the driver. */
    private static int code(Throwable failed) {
        return switch (failed) {
            case ModelFileException _, MissingWeightsException _, UnusableWeightsException _ -> MODEL;
            // missing table, column or format
            case AnalysisException _, SparkClassNotFoundException _ -> USAGE;
            case IOException _, IllegalArgumentException _ -> USAGE;
            default -> FAILED;
        };
    }

    /** Returns the first line of a message: Spark appends plans and stack traces. */
    private static String firstLine(Throwable failed) {
        String message = failed.getMessage();
        return message == null
                ? failed.toString()
                : message.strip().lines().findFirst().orElse(failed.toString());
    }
}
