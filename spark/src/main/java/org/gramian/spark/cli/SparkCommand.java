package org.gramian.spark.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.executor.TaskResources;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command: options of input and output, the session, standard output for results, and standard error for messages. */
@Command(mixinStandardHelpOptions = true)
abstract class SparkCommand implements Callable<Integer> {
    /**
     * Default Java options of executors: compiles code after five times as many calls as usual. An executor loads some 16,000
     * classes, most of which run a few times, and compiles them on the cores of its first task.
     */
    private static final String EXECUTOR_OPTIONS = "-XX:CompileThresholdScaling=5";

    /** Priority of a shutdown hook before those that stop Spark (40) and close file systems (10), which are still needed. */
    private static final int HOOK_PRIORITY = 60;

    private static final int LONGEST_SECONDS = 25;

    /** Time between two stop requests: a planned job that has not begun ignores the first. */
    private static final int AGAIN_MILLISECONDS = 250;

    @Spec
    private CommandSpec command;

    @Mixin
    final SparkInputOptions input = new SparkInputOptions();

    @Mixin
    final OutputOptions output = new OutputOptions();

    static final class DeviceOption {
        @Option(
                names = "--device",
                paramLabel = "DEVICE",
                defaultValue = "auto",
                description = "cpu, cuda, cuda:<number>, or auto: the GPU that Spark assigned to the task, or the CPU"
                        + " without one (default: ${DEFAULT-VALUE})")
        private String device;

        /** Returns the name, which each executor resolves; throws if it is invalid. */
        String name() {
            TaskResources.requireDeviceName("--device", device);
            return device;
        }
    }

    /** Throws if options are invalid, before Spark starts. */
    abstract void check();

    abstract int run(SparkSession session) throws IOException, InterruptedException;

    /**
     * Runs the command in the session of this JVM, which is created if there is none.
     *
     * @return its exit code, but 0 for {@link SparkMain#DATA} on a cluster, which would take it for a failure and start again
     */
    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        check();
        SparkSession session = SparkSession.builder()
                .config(settings(new SparkConf(), command.qualifiedName()))
                .getOrCreate();
        int code = run(session);
        return code == SparkMain.DATA && isRemote(session.sparkContext().conf()) ? SparkMain.DONE : code;
    }

    final void print(String text) {
        PrintWriter out = command.commandLine().getOut();
        out.print(text);
        out.flush();
    }

    /** Prints a message with the name of the command to standard error. */
    final synchronized void log(String message) {
        PrintWriter err = command.commandLine().getErr();
        err.println(command.qualifiedName() + ": " + message);
        err.flush();
    }

    /** Ends {@link #cancelOnSignal}. */
    @FunctionalInterface
    interface SignalHandling extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Cancels all jobs on Ctrl-C or a signal and waits, until closed, for the command to remove incomplete output; without it, Spark
     * would leave {@code _temporary} behind.
     *
     * @param stop called on a signal, perhaps repeatedly
     */
    static SignalHandling cancelOnSignal(SparkContext context, Runnable stop) {
        CountDownLatch ended = new CountDownLatch(1);
        Runnable hook = () -> {
            try {
                do {
                    stop.run();
                    context.cancelAllJobs();
                } while (!ended.await(AGAIN_MILLISECONDS, TimeUnit.MILLISECONDS));
            } catch (InterruptedException _) { // by the hook manager, after the longest time
                Thread.currentThread().interrupt();
            }
        };
        ShutdownHookManager.get().addShutdownHook(hook, HOOK_PRIORITY, LONGEST_SECONDS, TimeUnit.SECONDS);
        return () -> {
            ended.countDown();
            if (!ShutdownHookManager.get().isShutdownInProgress()) {
                ShutdownHookManager.get().removeShutdownHook(hook);
            }
        };
    }

    /** Returns the given configuration with defaults for unset keys. */
    static SparkConf settings(SparkConf given, String defaultName) {
        return given.setAppName(name(given, defaultName))
                .setIfMissing("spark.executor.defaultJavaOptions", EXECUTOR_OPTIONS)
                .setIfMissing("spark.ui.showConsoleProgress", "true")
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
