package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainEvent;
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
    private final Cancellation breaks = Cancellation.onRequest();
    private SparkSession spark;
    private TrainingProgressLog told;

    @Command(name = "train")
    private static final class Program {
        @Mixin
        private final Console console = new Console();
    }

    @BeforeEach
    void begin() {
        Program program = new Program();
        new CommandLine(program).setErr(new PrintWriter(said));
        spark = LocalSpark.session();
        told = TrainingProgressLog.begin(spark, program.console);
    }

    @AfterEach
    void end() {
        told.close();
    }

    /** A job of two tasks that last so long, or until they are cancelled. */
    private CompletableFuture<Long> job(long milliseconds) {
        return CompletableFuture.supplyAsync(() -> JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(List.of(1, 2), 2)
                .map(number -> {
                    for (long waited = 0;
                            waited < milliseconds && !TaskContext.get().isInterrupted();
                            waited += 20) {
                        Thread.sleep(20);
                    }
                    return number;
                })
                .count());
    }

    private void awaitTasks() throws InterruptedException {
        while (spark.sparkContext().statusTracker().getActiveJobIds().length == 0) {
            Thread.sleep(10);
        }
    }

    @Test
    void whileFeaturesAreComputedItSaysHowManyTasksAreDone() throws Exception {
        told.tell(new TrainEvent.Collecting("computing features", 5, 1200));

        CompletableFuture<Long> features = job(1500);
        while (said.toString().isEmpty()) {
            Thread.sleep(20);
        }
        features.get(60, TimeUnit.SECONDS);

        assertThat(said.toString().lines().findFirst().orElseThrow())
                .matches("train: computing features\\D+5 of 1,200\\D+\\d of 2\\D+0 crops.*");
    }

    @Test
    void featuresAreCancelledWhenItIsStopped() throws Exception {
        told.tell(new TrainEvent.Collecting("computing features", 0, 12));
        CompletableFuture<Long> features = job(600_000);
        awaitTasks();

        told.stop(breaks);

        assertThatThrownBy(() -> features.get(60, TimeUnit.SECONDS)).hasStackTraceContaining("cancel");
        assertThat(breaks.reason()).contains(Cancellation.Reason.CANCELLED);
    }

    @Test
    void aStepEndsBeforeTrainingStops() throws Exception {
        told.tell(new TrainEvent.StageStarted(1, 9, 40, 320));
        CompletableFuture<Long> step = job(300);
        awaitTasks();

        told.stop(breaks);

        assertThat(step.get(60, TimeUnit.SECONDS)).isEqualTo(2);
        assertThat(breaks.reason()).contains(Cancellation.Reason.CANCELLED);
    }
}
