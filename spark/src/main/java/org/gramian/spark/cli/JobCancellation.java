package org.gramian.spark.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.sql.SparkSession;

/**
 * Cancels work on Ctrl-C or a signal, and waits until it has removed incomplete output. Without it, Spark
 * would leave {@code _temporary} behind.
 */
final class JobCancellation implements AutoCloseable {
    /** Runs before the hooks that stop Spark (40) and close file systems (10), which are still needed. */
    private static final int PRIORITY = 60;

    private static final int LONGEST_SECONDS = 25;

    /** Time between two stop requests: a planned job that has not begun ignores the first. */
    private static final int AGAIN_MILLISECONDS = 250;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Runnable hook;

    private JobCancellation(SparkSession session, Runnable stop) {
        this.hook = () -> {
            try {
                do {
                    stop.run();
                    session.sparkContext().cancelAllJobs();
                } while (!ended.await(AGAIN_MILLISECONDS, TimeUnit.MILLISECONDS));
            } catch (InterruptedException _) { // by the hook manager, after the longest time
                Thread.currentThread().interrupt();
            }
        };
    }

    /** Runs an action on a signal and cancels the jobs of a session, repeatedly until closed. */
    static JobCancellation of(SparkSession session, Runnable stop) {
        JobCancellation cancellation = new JobCancellation(session, stop);
        ShutdownHookManager.get().addShutdownHook(cancellation.hook, PRIORITY, LONGEST_SECONDS, TimeUnit.SECONDS);
        return cancellation;
    }

    @Override
    public void close() {
        ended.countDown();
        if (!ShutdownHookManager.get().isShutdownInProgress()) {
            ShutdownHookManager.get().removeShutdownHook(hook);
        }
    }
}
