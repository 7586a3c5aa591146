package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.testing.Await;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Timeout(120)
class TrainingProgressLogTest {
    private final StringWriter said = new StringWriter();
    private final Cancellation cancellation = Cancellation.onRequest();

    /** Ends the tasks of a job; static, since tasks run in this JVM but are deserialized. */
    private static CountDownLatch released = new CountDownLatch(1);

    private SparkSession spark;
    private TrainingProgressLog progress;

    @Command(name = "train")
    private static final class Program {
        @Mixin
        private final SparkApplication application = new SparkApplication();
    }

    @BeforeEach
    void begin() {
        Program program = new Program();
        new CommandLine(program).setErr(new PrintWriter(said));
        spark = LocalSpark.session();
        released = new CountDownLatch(1);
        progress = TrainingProgressLog.start(spark, program.application);
    }

    @AfterEach
    void end() {
        progress.close();
    }

    /** Starts a job of two tasks, which run until they are released or cancelled. */
    private CompletableFuture<Long> job() {
        return CompletableFuture.supplyAsync(() -> JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(List.of(1, 2), 2)
                .map(number -> {
                    while (!released.await(20, TimeUnit.MILLISECONDS)
                            && !TaskContext.get().isInterrupted()) {}
                    return number;
                })
                .count());
    }

    private void awaitTasks() throws Exception {
        Await.until("a job", () -> spark.sparkContext().statusTracker().getActiveJobIds().length > 0);
    }

    @Test
    void tasksAreCountedWhileFeaturesAreComputed() throws Exception {
        progress.accept(new TrainEvent.Task("computing features", 5, 1200));

        CompletableFuture<Long> features = job();
        Await.until("a line of progress", () -> !said.toString().isEmpty());
        released.countDown();
        features.get(60, TimeUnit.SECONDS);

        assertThat(said.toString().lines().findFirst().orElseThrow())
                .matches("train: computing features\\D+5 of 1,200\\D+\\d of 2\\D+0 crops.*");
    }

    @Test
    void cancelStopsFeatureJobs() throws Exception {
        progress.accept(new TrainEvent.Task("computing features", 0, 12));
        CompletableFuture<Long> features = job();
        awaitTasks();

        progress.cancel(cancellation);

        assertThatThrownBy(() -> features.get(60, TimeUnit.SECONDS)).hasStackTraceContaining("cancel");
        assertThat(cancellation.reason()).contains(Cancellation.Reason.CANCELLED);
    }

    @Test
    void cancelLetsAStepEnd() throws Exception {
        progress.accept(new TrainEvent.StageStarted(1, 9, 40, 320));
        CompletableFuture<Long> step = job();
        awaitTasks();

        progress.cancel(cancellation);
        released.countDown();

        assertThat(step.get(60, TimeUnit.SECONDS)).isEqualTo(2);
        assertThat(cancellation.reason()).contains(Cancellation.Reason.CANCELLED);
    }
}
