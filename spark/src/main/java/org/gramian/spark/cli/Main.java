package org.gramian.spark.cli;

import java.io.PrintWriter;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.NearestWord;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The program that {@code gramian spark} passes to {@code spark-submit}, with its commands. */
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
        subcommands = {PredictCommand.class, EmbedCommand.class, AuditCommand.class, TrainCommand.class})
public final class Main implements Runnable {
    /** Exit codes of all commands, the same as those of {@code gramian}. */
    static final int DONE = 0;

    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int DATA = 3;
    static final int MODEL = 4;
    static final int INTERRUPTED = 5;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    private Main() {}

    /** Prints the help. */
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
            System.exit(code); // only then: a cluster takes any exit for a failure
        }
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpWidth(120)
                .setParameterExceptionHandler(Main::misused)
                .setExecutionExceptionHandler(Failures::say);
    }

    /** Reports a wrong command line: the error, a suggestion, and how to get help. */
    private static int misused(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        CommandSpec command = wrong.getCommandLine().getCommandSpec();
        err.println(command.qualifiedName() + ": " + wrong.getMessage());
        if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched) {
            String typed = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
            NearestWord.of(
                            typed,
                            typed.startsWith("-")
                                    ? command.optionsMap().keySet()
                                    : command.subcommands().keySet())
                    .ifPresent(name -> err.println("did you mean '" + name + "'?"));
        }
        err.println("try '" + command.qualifiedName() + " --help'");
        err.flush();
        return USAGE;
    }
}
