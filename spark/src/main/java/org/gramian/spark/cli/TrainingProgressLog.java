package org.gramian.spark.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.apache.spark.sql.SparkSession;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;

/** Prints the progress of a training on Spark, and cancels it. */
final class TrainingProgressLog implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    private final SparkSession session;
    private final SparkApplication application;
    private JobProgress jobs;
    private Instant lastPrinted = Instant.now();
    private int steps;
    private volatile boolean stepping;

    private TrainingProgressLog(SparkSession session, SparkApplication application, JobProgress jobs) {
        this.session = session;
        this.application = application;
        this.jobs = jobs;
    }

    /** Starts with the work before the first event. */
    static TrainingProgressLog start(SparkSession session, SparkApplication application) {
        return new TrainingProgressLog(
                session, application, JobProgress.of(session, application, "reading image names and classes", ""));
    }

    /** Prints an event. */
    void accept(TrainEvent event) {
        switch (event) {
            case TrainEvent.Task task -> show(task);
            case TrainEvent.Warning warning -> print(warning.text());
            case TrainEvent.StageStarted started -> {
                jobs.close();
                steps = started.steps();
                stepping = true;
            }
            case TrainEvent.Stepped stepped -> step(stepped);
            case TrainEvent.EpochDone done ->
                print(String.format(
                        Locale.ROOT,
                        "epoch %d: loss %.4f, accuracy %.1f %%%s",
                        done.epoch() + 1,
                        done.loss(),
                        100 * done.accuracy(),
                        done.best() ? ", best" : ""));
            case TrainEvent.StageDone done -> print("trained for " + done.epochs() + " epochs: " + done.reason());
            default -> {} // Spark trains one head by steps alone
        }
    }

    private void show(TrainEvent.Task task) {
        jobs.close();
        boolean all = task.done() == task.total();
        String work = all
                ? "reading features"
                : String.format(
                        Locale.ROOT, "%s, %,d of %,d images already done", task.name(), task.done(), task.total());
        jobs = JobProgress.of(session, application, work, all ? "" : "crops");
    }

    private void step(TrainEvent.Stepped stepped) {
        if (Duration.between(lastPrinted, Instant.now()).compareTo(BETWEEN) >= 0) {
            print(String.format(
                    Locale.ROOT,
                    "epoch %d: step %,d of %,d, loss %.4f",
                    stepped.epoch() + 1,
                    stepped.step(),
                    steps,
                    stepped.loss()));
        }
    }

    private void print(String line) {
        application.log(line);
        lastPrinted = Instant.now();
    }

    /**
     * Cancels the training, from any thread: a step ends and a checkpoint is written; jobs before the first step are cancelled, and a
     * resumed run repeats them.
     */
    void cancel(Cancellation cancellation) {
        cancellation.cancel();
        if (!stepping) {
            session.sparkContext().cancelAllJobs();
        }
    }

    @Override
    public void close() {
        jobs.close();
    }
}
