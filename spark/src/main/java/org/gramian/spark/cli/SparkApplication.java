package org.gramian.spark.cli;

import java.io.IOException;
import java.io.PrintWriter;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Spark application of a command: its session, standard output for results, and standard error for messages. */
@Command // a mixin without options needs it
final class SparkApplication {
    /**
     * Default Java options of executors: compiles code after five times as many calls as usual. An executor loads some 16,000
     * classes, most of which run a few times, and compiles them on the cores of its first task.
     */
    private static final String EXECUTOR_OPTIONS = "-XX:CompileThresholdScaling=5";

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    /** Work that needs a session. */
    interface SessionWork {
        int run(SparkSession session) throws IOException, InterruptedException;
    }

    PrintWriter out() {
        return command.commandLine().getOut();
    }

    /** Prints a message with the name of the command to standard error. */
    synchronized void log(String message) {
        PrintWriter err = command.commandLine().getErr();
        err.println(command.qualifiedName() + ": " + message);
        err.flush();
    }

    /**
     * Runs work in the session of this JVM, which is created if there is none.
     *
     * @return its exit code, but 0 for {@link SparkMain#DATA} on a cluster, which would take it for a failure and start again
     */
    int run(SessionWork work) throws IOException, InterruptedException {
        SparkSession session = SparkSession.builder()
                .config(settings(new SparkConf(), command.qualifiedName()))
                .getOrCreate();
        int code = work.run(session);
        return code == SparkMain.DATA && isRemote(session.sparkContext().conf()) ? SparkMain.DONE : code;
    }

    /** Returns the given configuration with defaults for unset keys. */
    static SparkConf settings(SparkConf given, String defaultName) {
        return given.setAppName(name(given, defaultName))
                .setIfMissing("spark.executor.defaultJavaOptions", EXECUTOR_OPTIONS)
                // as on YARN and Kubernetes: work is partitioned by the cores available at the start
                .setIfMissing("spark.scheduler.minRegisteredResourcesRatio", "0.8");
    }

    /** Returns the name given by {@code --name}; without one, {@code spark-submit} sets the main class. */
    static String name(SparkConf given, String defaultName) {
        String name = given.get("spark.app.name", "");
        return name.isEmpty() || name.equals(SparkMain.class.getName()) ? defaultName : name;
    }

    /** Returns whether the driver runs on the cluster; on Kubernetes its deploy mode is then client, with another setting. */
    static boolean isRemote(SparkConf conf) {
        return conf.get("spark.submit.deployMode", "client").equals("cluster")
                || conf.getBoolean("spark.kubernetes.submitInDriver", false);
    }
}
