package org.gramian.spark.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/**
 * The jobs of a command. Prints their progress after two seconds, then every ten seconds. On Ctrl-C or a signal cancels them and waits
 * until the command has removed incomplete output; without it, Spark would leave {@code _temporary} behind.
 */
final class RunningJobs extends SparkListener implements AutoCloseable {
    private static final Duration FIRST = Duration.ofSeconds(2);
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    /** Runs before the hooks that stop Spark (40) and close file systems (10), which are still needed. */
    private static final int PRIORITY = 60;

    private static final int LONGEST_SECONDS = 25;

    /** Time between two stop requests: a planned job that has not begun ignores the first. */
    private static final int AGAIN_MILLISECONDS = 250;

    private final SparkSession session;
    private final Consumer<String> log;
    private final Instant start = Instant.now();
    private final Set<String> done = new HashSet<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Runnable hook;
    private long tasks;
    private long lost;
    private long rows;

    private RunningJobs(SparkSession session, Consumer<String> log, Runnable stop) {
        this.session = session;
        this.log = log;
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

    /**
     * Begins to watch the jobs of a session, until closed.
     *
     * @param stop called on a signal, perhaps repeatedly
     */
    static RunningJobs of(SparkSession session, Consumer<String> log, Runnable stop) {
        RunningJobs jobs = new RunningJobs(session, log, stop);
        session.sparkContext().addSparkListener(jobs);
        Future<?> _ = jobs.clock.scheduleAtFixedRate(
                jobs::print, FIRST.toMillis(), BETWEEN.toMillis(), TimeUnit.MILLISECONDS);
        ShutdownHookManager.get().addShutdownHook(jobs.hook, PRIORITY, LONGEST_SECONDS, TimeUnit.SECONDS);
        return jobs;
    }

    @Override
    public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
        if (submitted.stageInfo().attemptNumber() == 0) {
            tasks += submitted.stageInfo().numTasks();
        }
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
        if (end.taskInfo().failed()) { // does not count killed speculative copies
            lost++;
        } else if (end.taskInfo().successful()
                && done.add(end.stageId() + "/" + end.taskInfo().index())) {
            rows += end.taskMetrics().outputMetrics().recordsWritten();
        }
    }

    /** Prints, unless all tasks are done, for example {@code 3 of 40 tasks done, 1,536 rows, about 90 s left}. */
    private synchronized void print() {
        if (done.size() < tasks) {
            double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
            double left = seconds / Math.max(1, done.size()) * (tasks - done.size());
            log.accept(String.format(Locale.ROOT, "%,d of %,d tasks done", done.size(), tasks)
                    + (rows == 0 ? "" : String.format(Locale.ROOT, ", %,d rows", rows))
                    + (lost == 0 ? "" : ", " + lost + " tasks lost and retried")
                    + (done.isEmpty() ? "" : String.format(Locale.ROOT, ", about %.0f s left", left)));
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        session.sparkContext().removeSparkListener(this);
        ended.countDown();
        if (!ShutdownHookManager.get().isShutdownInProgress()) {
            ShutdownHookManager.get().removeShutdownHook(hook);
        }
    }
}
