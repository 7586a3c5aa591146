package org.gramian.spark.cli;

import java.io.IOException;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;

/** The connection to Spark of a command, and what its exit codes may be there. */
final class Session {
    private Session() {}

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
                .appName(name(new SparkConf(), console.name()))
                .getOrCreate();
        int code = work.run(session);
        return code == Main.DATA && isRemote(session.sparkContext().conf()) ? Main.DONE : code;
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
