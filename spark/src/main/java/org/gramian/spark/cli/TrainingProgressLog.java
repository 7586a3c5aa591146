package org.gramian.spark.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.apache.spark.sql.SparkSession;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainEvent;

/** Says how far a training on Spark is, and stops it in the way that suits what it is doing. */
final class TrainingProgressLog implements AutoCloseable {
    private static final Duration BETWEEN = Duration.ofSeconds(10);

    private final SparkSession session;
    private final Console console;
    private JobProgress jobs;
    private Instant said = Instant.now();
    private int steps;
    private volatile boolean stepping;

    private TrainingProgressLog(SparkSession session, Console console, JobProgress jobs) {
        this.session = session;
        this.console = console;
        this.jobs = jobs;
    }

    /** Begins with what comes before all events. */
    static TrainingProgressLog begin(SparkSession session, Console console) {
        return new TrainingProgressLog(
                session, console, JobProgress.of(session, console, "reading image names and classes", ""));
    }

    /** What happened. */
    void tell(TrainEvent event) {
        switch (event) {
            case TrainEvent.Collecting collecting -> collect(collecting);
            case TrainEvent.StageStarted started -> {
                jobs.close();
                steps = started.steps();
                stepping = true;
            }
            case TrainEvent.RateFound found -> say(found.text());
            case TrainEvent.Stepped stepped -> step(stepped);
            case TrainEvent.EpochDone done ->
                say(String.format(
                        Locale.ROOT,
                        "epoch %d: loss %.4f, accuracy %.1f %%%s",
                        done.epoch() + 1,
                        done.loss(),
                        100 * done.accuracy(),
                        done.best() ? ", best" : ""));
            case TrainEvent.StageExtended extended ->
                say("the loss is still falling: training continues to epoch " + extended.epochs());
            case TrainEvent.StageDone done -> say("trained for " + done.epochs() + " epochs: " + done.reason());
            case TrainEvent.Solving _,
                    TrainEvent.Solved _,
                    TrainEvent.Refitted _,
                    TrainEvent.RefitSkipped _,
                    TrainEvent.PoolingCompared _ -> {} // Spark trains by steps alone
        }
    }

    private void collect(TrainEvent.Collecting collecting) {
        jobs.close();
        boolean all = collecting.done() == collecting.all();
        String work = all
                ? "reading features"
                : String.format(
                        Locale.ROOT,
                        "%s, %,d of %,d images already done",
                        collecting.task(),
                        collecting.done(),
                        collecting.all());
        jobs = JobProgress.of(session, console, work, all ? "" : "crops");
    }

    private void step(TrainEvent.Stepped stepped) {
        if (Duration.between(said, Instant.now()).compareTo(BETWEEN) >= 0) {
            say(String.format(
                    Locale.ROOT,
                    "epoch %d: step %,d of %,d, loss %.4f",
                    stepped.epoch() + 1,
                    stepped.step(),
                    steps,
                    stepped.loss()));
        }
    }

    private void say(String sentence) {
        console.say(sentence);
        said = Instant.now();
    }

    /**
     * Stops it, from any thread: a step ends first, and a checkpoint is kept; all that comes before steps is cancelled, for what is
     * missing of it is done again by another run.
     */
    void stop(Cancellation breaks) {
        breaks.cancel();
        if (!stepping) {
            session.sparkContext().cancelAllJobs();
        }
    }

    @Override
    public void close() {
        jobs.close();
    }
}
