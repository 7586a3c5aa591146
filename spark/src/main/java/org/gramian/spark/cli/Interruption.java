package org.gramian.spark.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.sql.SparkSession;

/**
 * Ends a job when the program is asked to end: by Ctrl-C, by a signal. It is cancelled on all executors, and the program waits until
 * what was half written is removed. Without it, Spark would leave {@code _temporary} behind.
 */
final class Interruption implements AutoCloseable {
    /** Before the hooks that stop Spark (40) and close file systems (10), which are still needed. */
    private static final int PRIORITY = 60;

    private static final int LONGEST_SECONDS = 25;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Runnable hook;

    private Interruption(SparkSession session) {
        this.hook = () -> {
            session.sparkContext().cancelAllJobs();
            try {
                boolean _ = ended.await(LONGEST_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        };
    }

    /** Until it is closed, the program ends in this way. */
    static Interruption of(SparkSession session) {
        Interruption interruption = new Interruption(session);
        ShutdownHookManager.get().addShutdownHook(interruption.hook, PRIORITY, LONGEST_SECONDS, TimeUnit.SECONDS);
        return interruption;
    }

    @Override
    public void close() {
        ended.countDown();
        if (!ShutdownHookManager.get().isShutdownInProgress()) {
            ShutdownHookManager.get().removeShutdownHook(hook);
        }
    }
}
