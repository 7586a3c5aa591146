package org.gramian.spark.train;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;

/**
 * Waits for tasks that keep running after their job was cancelled or failed: they may write files after the committer of Spark
 * has cleaned up.
 */
public final class LateTasks {
    private static final long LONGEST_MILLISECONDS = 10_000;
    private static final long BETWEEN_MILLISECONDS = 50;

    private LateTasks() {}

    /** Runs jobs; on failure waits until no task runs, for at most ten seconds. */
    public static void outlived(SparkContext program, Runnable jobs) {
        boolean done = false; // Spark often throws checked exceptions undeclared
        try {
            jobs.run();
            done = true;
        } finally {
            if (!done) {
                await(program);
            }
        }
    }

    private static void await(SparkContext program) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_MILLISECONDS);
        try {
            while (running(program) > 0 && System.nanoTime() < end) {
                Thread.sleep(BETWEEN_MILLISECONDS);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static int running(SparkContext program) {
        return Arrays.stream(program.statusTracker().getExecutorInfos())
                .mapToInt(SparkExecutorInfo::numRunningTasks)
                .sum();
    }
}
