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
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/** Prints the progress of jobs: after two seconds, then every ten seconds. */
final class JobProgress extends SparkListener implements AutoCloseable {
    private static final Duration FIRST = Duration.ofSeconds(2);
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    private final SparkSession session;
    private final SparkApplication application;
    private final String work;
    private final String unit;
    private final Instant start = Instant.now();
    private final Set<String> done = new HashSet<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());
    private long tasks;
    private long lost;
    private long rows;

    private JobProgress(SparkSession session, SparkApplication application, String work, String unit) {
        this.session = session;
        this.application = application;
        this.work = work;
        this.unit = unit;
    }

    /**
     * Starts printing.
     *
     * @param work description of the work; empty if the command's name suffices
     * @param unit of the rows written, as {@code images}; empty if there are none
     */
    static JobProgress of(SparkSession session, SparkApplication application, String work, String unit) {
        JobProgress progress = new JobProgress(session, application, work, unit);
        session.sparkContext().addSparkListener(progress);
        Future<?> _ = progress.clock.scheduleAtFixedRate(
                progress::print, FIRST.toMillis(), BETWEEN.toMillis(), TimeUnit.MILLISECONDS);
        return progress;
    }

    private void print() {
        if (hasTasks()) {
            application.log(text());
        }
    }

    private synchronized boolean hasTasks() {
        return tasks > 0;
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

    /** For example {@code computing features: 3 of 40 tasks done, 1,536 crops, about 90 s left}. */
    synchronized String text() {
        String text = String.format(
                Locale.ROOT,
                "%s%,d of %,d tasks done%s%s",
                work.isEmpty() ? "" : work + ": ",
                done.size(),
                tasks,
                unit.isEmpty() ? "" : String.format(Locale.ROOT, ", %,d %s", rows, unit),
                lost == 0 ? "" : ", " + lost + " tasks lost and retried");
        double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
        return done.isEmpty()
                ? text
                : text
                        + String.format(
                                Locale.ROOT, ", about %.0f s left", seconds / done.size() * (tasks - done.size()));
    }

    @Override
    public void close() {
        clock.shutdownNow();
        session.sparkContext().removeSparkListener(this);
    }
}
