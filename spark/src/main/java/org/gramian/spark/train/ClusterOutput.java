package org.gramian.spark.train;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.sql.SparkSession;

/**
 * Safe output of tables by executors.
 *
 * <p>With a local path on a cluster, every executor writes to its own disk, the committer finds nothing on the disk of the driver,
 * and Spark reports success. Tasks that keep running after their job was cancelled or failed may write files after Spark's committer
 * has cleaned up.
 */
public final class ClusterOutput {
    /** URI scheme of local paths. */
    public static final String LOCAL_SCHEME = "file";

    /** Most likely reason of missing rows. */
    static final String LOCAL_DISKS =
            "executors on other machines wrote to their local disks; use a path that is shared by all machines";

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final Duration BETWEEN_CHECKS = Duration.ofMillis(50);

    private ClusterOutput() {}

    /** Returns whether a path may refer to different disks on different machines. */
    public static boolean mayBeLocal(SparkSession session, String place) throws IOException {
        return mayBeLocal(
                session.sparkContext().master(),
                new Path(place),
                session.sessionState().newHadoopConf());
    }

    static boolean mayBeLocal(String master, Path place, Configuration hadoop) throws IOException {
        String scheme = place.getFileSystem(hadoop).getUri().getScheme();
        return !master.startsWith("local") && LOCAL_SCHEME.equals(scheme);
    }

    /** Warns about a local path before the work. */
    public static void warn(SparkSession session, String place, Consumer<String> warnings) throws IOException {
        if (mayBeLocal(session, place)) {
            warnings.accept(place + " is a local path, and "
                    + session.sparkContext().master()
                    + " may have several machines: it must be the same mounted folder on every machine, or results are"
                    + " lost; otherwise use a shared path, e.g. hdfs://host/folder");
        }
    }

    /**
     * Counts the rows of a table that this machine sees, by the footers of its files.
     *
     * @throws IllegalStateException if they are fewer than were written
     */
    public static void requireRows(Path table, long written, Configuration hadoop) throws IOException {
        long seen = 0;
        for (FileStatus file : table.getFileSystem(hadoop).listStatus(table)) {
            if (file.isFile() && file.getPath().getName().endsWith(".parquet")) {
                try (ParquetFileReader reader =
                        ParquetFileReader.open(HadoopInputFile.fromPath(file.getPath(), hadoop))) {
                    seen += reader.getRecordCount();
                }
            }
        }
        if (seen < written) {
            throw new IllegalStateException(
                    "expected " + written + " rows in " + table + ", found " + seen + ": " + LOCAL_DISKS);
        }
    }

    /** Runs jobs; on failure waits until no task runs, for at most ten seconds. */
    public static void runAndAwaitTasks(SparkContext context, Runnable jobs) {
        boolean done = false; // Spark often throws checked exceptions undeclared
        try {
            jobs.run();
            done = true;
        } finally {
            if (!done) {
                awaitTasks(context);
            }
        }
    }

    private static void awaitTasks(SparkContext context) {
        long end = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (runningTasks(context) > 0 && System.nanoTime() < end) {
                Thread.sleep(BETWEEN_CHECKS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static int runningTasks(SparkContext context) {
        return Arrays.stream(context.statusTracker().getExecutorInfos())
                .mapToInt(SparkExecutorInfo::numRunningTasks)
                .sum();
    }
}
