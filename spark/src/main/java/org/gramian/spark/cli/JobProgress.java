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

/** Says how far a job is, from what Spark tells its listeners: a line after two seconds and every ten seconds then. */
final class JobProgress extends SparkListener implements AutoCloseable {
    private static final Duration FIRST = Duration.ofSeconds(2);
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    private final SparkSession session;
    private final Console console;
    private final Instant start = Instant.now();
    private final Set<String> done = new HashSet<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());
    private long tasks;
    private long lost;
    private long rows;

    private JobProgress(SparkSession session, Console console) {
        this.session = session;
        this.console = console;
    }

    /** Begins to listen. */
    static JobProgress of(SparkSession session, Console console) {
        JobProgress progress = new JobProgress(session, console);
        session.sparkContext().addSparkListener(progress);
        Future<?> _ = progress.clock.scheduleAtFixedRate(
                progress::say, FIRST.toMillis(), BETWEEN.toMillis(), TimeUnit.MILLISECONDS);
        return progress;
    }

    private void say() {
        if (begun()) {
            console.say(text());
        }
    }

    private synchronized boolean begun() {
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
        if (!end.taskInfo().successful()) {
            lost++;
        } else if (done.add(end.stageId() + "/" + end.taskInfo().index())) {
            rows += end.taskMetrics().outputMetrics().recordsWritten();
        }
    }

    /** For example {@code 3 of 40 tasks done, 1,536 pictures, about 90 s left}. */
    synchronized String text() {
        String text = String.format(
                Locale.ROOT,
                "%,d of %,d tasks done, %,d pictures%s",
                done.size(),
                tasks,
                rows,
                lost == 0 ? "" : ", " + lost + " tasks lost and done again");
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
