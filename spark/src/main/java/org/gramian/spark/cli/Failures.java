package org.gramian.spark.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkClassNotFoundException;
import org.apache.spark.SparkException;
import org.apache.spark.sql.AnalysisException;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.model.ModelFileException;
import org.gramian.tensor.DeviceException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/**
 * Reports failures of commands. Spark wraps exceptions of its tasks, sometimes several times: the first cause with
 * advice for the user is shown.
 */
final class Failures {
    private Failures() {}

    static int say(Exception exception, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        if (System.getenv("GRAMIAN_DEBUG") != null) {
            exception.printStackTrace(err);
        }
        if (ShutdownHookManager.get().isShutdownInProgress()) {
            err.println(line.getCommandSpec().qualifiedName() + ": interrupted");
            err.flush();
            return Main.INTERRUPTED;
        }
        Throwable known = known(exception);
        err.println(line.getCommandSpec().qualifiedName() + ": "
                + (known == null ? "the job failed: " + firstLine(innermost(exception)) : sentence(known)));
        if (known == null) {
            err.println("see the logs of driver and executors; GRAMIAN_DEBUG=1 prints the stack trace");
        }
        err.flush();
        return known == null ? Main.FAILED : code(known);
    }

    /**
     * The outermost cause that has a code of its own. What fails in tasks is nobody's wrong use, though it be an exception that says so
     * on the driver, but for a model or a device that an executor is the first to try.
     */
    private static @Nullable Throwable known(Throwable failed) {
        boolean inTask = false;
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            inTask |= cause instanceof SparkException;
            boolean counts = !inTask || cause instanceof ModelFileException || cause instanceof DeviceException;
            if (counts && code(cause) != Main.FAILED) {
                return cause;
            }
        }
        return null;
    }

    /** What an exception means on the driver. */
    private static int code(Throwable failed) {
        return switch (failed) {
            case ModelFileException _ -> Main.MODEL;
            case MissingWeightsException _ -> Main.MODEL;
            case UnusableWeightsException _ -> Main.MODEL;
            case AnalysisException _ -> Main.USAGE; // a table, column or format that is not there
            case SparkClassNotFoundException _ -> Main.USAGE;
            case IOException _ -> Main.USAGE;
            case IllegalArgumentException _ -> Main.USAGE;
            default -> Main.FAILED;
        };
    }

    private static String sentence(Throwable failed) {
        return switch (failed) {
            case FileNotFoundException missing -> firstLine(missing);
            case InvalidPathException wrong -> wrong.getInput() + ": not a path: " + wrong.getReason();
            default -> firstLine(failed);
        };
    }

    /** The innermost of our own, which say what to try; where there is none, the first cause of all. */
    private static Throwable innermost(Throwable failed) {
        Throwable root = failed;
        @Nullable Throwable ours = null;
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            root = cause;
            if (cause.getClass().getName().startsWith("org.gramian.")) {
                ours = cause;
            }
        }
        return ours == null ? root : ours;
    }

    /** Spark's messages go on with plans and traces. */
    private static String firstLine(Throwable failed) {
        String message = failed.getMessage();
        return message == null
                ? failed.toString()
                : message.strip().lines().findFirst().orElse(failed.toString());
    }
}
