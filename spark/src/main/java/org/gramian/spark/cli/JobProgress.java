package org.gramian.spark.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/** Prints the progress of jobs: after two seconds, then every ten seconds. */
final class JobProgress extends SparkListener implements AutoCloseable {
    private static final Duration FIRST = Duration.ofSeconds(2);
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    private final SparkSession session;
    private final Consumer<String> log;
    private final Instant start = Instant.now();
    private final Set<String> done = new HashSet<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());
    private long tasks;
    private long lost;
    private long rows;

    private JobProgress(SparkSession session, Consumer<String> log) {
        this.session = session;
        this.log = log;
    }

    /** Starts printing. */
    static JobProgress of(SparkSession session, Consumer<String> log) {
        JobProgress progress = new JobProgress(session, log);
        session.sparkContext().addSparkListener(progress);
        Future<?> _ = progress.clock.scheduleAtFixedRate(
                progress::print, FIRST.toMillis(), BETWEEN.toMillis(), TimeUnit.MILLISECONDS);
        return progress;
    }

    /** Prints the progress unless all tasks are done. */
    private synchronized void print() {
        if (done.size() < tasks) {
            log.accept(text());
        }
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

    /** For example {@code 3 of 40 tasks done, 1,536 rows, about 90 s left}. */
    synchronized String text() {
        double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
        return String.format(Locale.ROOT, "%,d of %,d tasks done", done.size(), tasks)
                + (rows == 0 ? "" : String.format(Locale.ROOT, ", %,d rows", rows))
                + (lost == 0 ? "" : ", " + lost + " tasks lost and retried")
                + (done.isEmpty()
                        ? ""
                        : String.format(
                                Locale.ROOT, ", about %.0f s left", seconds / done.size() * (tasks - done.size())));
    }

    @Override
    public void close() {
        clock.shutdownNow();
        session.sparkContext().removeSparkListener(this);
    }
}
