package org.gramian.spark.train;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;

/**
 * Tasks that run on for a moment after their job was cancelled or failed: what they write then comes after what Spark's committer
 * removed.
 */
public final class LateTasks {
    private static final long LONGEST_MILLISECONDS = 10_000;
    private static final long BETWEEN_MILLISECONDS = 50;

    private LateTasks() {}

    /** Does something by jobs; where it fails, it waits until no task of the program runs, for ten seconds at most. */
    public static void outlived(SparkContext program, Runnable jobs) {
        boolean done = false; // what Spark throws is often no RuntimeException
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
