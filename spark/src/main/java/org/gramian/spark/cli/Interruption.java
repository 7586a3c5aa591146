package org.gramian.spark.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.sql.SparkSession;

/**
 * Stops work on Ctrl-C or a signal, and waits until it has removed incomplete output or kept a checkpoint. Without
 * it, Spark would leave {@code _temporary} behind.
 */
final class Interruption implements AutoCloseable {
    /** Before the hooks that stop Spark (40) and close file systems (10), which are still needed. */
    private static final int PRIORITY = 60;

    private static final int LONGEST_SECONDS = 25;

    /** Time between two stop requests: a planned job that has not begun ignores the first. */
    private static final int AGAIN_MILLISECONDS = 250;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Runnable hook;

    private Interruption(Runnable stop) {
        this.hook = () -> {
            try {
                do {
                    stop.run();
                } while (!ended.await(AGAIN_MILLISECONDS, TimeUnit.MILLISECONDS));
            } catch (InterruptedException _) { // after the longest time
                Thread.currentThread().interrupt();
            }
        };
    }

    /** Until it is closed, the jobs of a session are cancelled on all executors. */
    static Interruption of(SparkSession session) {
        return by(() -> session.sparkContext().cancelAllJobs());
    }

    /** Requests work to stop on a signal, repeatedly if needed, until closed. */
    static Interruption by(Runnable stop) {
        Interruption interruption = new Interruption(stop);
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
