package org.gramian.spark.cli;

import java.io.IOException;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/** The connection to Spark of a command, and what its exit codes may be there. */
final class SparkConnection {
    /**
     * Default Java options of executors: code is compiled after five times as many calls as usual. An
     * executor loads some 16,000 classes, most of which run a few times, and has but its own cores to compile them on beside its
     * first task.
     */
    private static final String FOR_EXECUTORS = "-XX:CompileThresholdScaling=5";

    private SparkConnection() {}

    /** Work that needs Spark. */
    interface Work {
        int run(SparkSession session) throws IOException, InterruptedException;
    }

    /**
     * Does work in the program's session, which is begun unless there is one.
     *
     * @return its exit code; but 0 for {@link Main#DATA} where a cluster would take it for a failed program and begin anew
     */
    static int run(Console console, Work work) throws IOException, InterruptedException {
        SparkSession session = SparkSession.builder()
                .config(settings(new SparkConf(), console.name()))
                .getOrCreate();
        int code = work.run(session);
        return code == Main.DATA && isRemote(session.sparkContext().conf()) ? Main.DONE : code;
    }

    /** Returns the given configuration with defaults for unset keys. */
    static SparkConf settings(SparkConf given, String ours) {
        return given.setAppName(name(given, ours))
                .setIfMissing("spark.executor.defaultJavaOptions", FOR_EXECUTORS)
                // As YARN and Kubernetes have it: the work is cut by the cores that are there when it begins.
                .setIfMissing("spark.scheduler.minRegisteredResourcesRatio", "0.8");
    }

    /** The name by {@code --name}, for which {@code spark-submit} puts the main class where it is not given; ours then. */
    static String name(SparkConf given, String ours) {
        String name = given.get("spark.app.name", "");
        return name.isEmpty() || name.equals(Main.class.getName()) ? ours : name;
    }

    /** Whether the driver runs on the cluster; that of Kubernetes, once there, calls itself a client but for one more setting. */
    static boolean isRemote(SparkConf conf) {
        return conf.get("spark.submit.deployMode", "client").equals("cluster")
                || conf.getBoolean("spark.kubernetes.submitInDriver", false);
    }
}
