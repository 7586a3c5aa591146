package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.GramianModel;
import org.gramian.spark.testing.Await;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.StandaloneCluster;
import org.gramian.spark.testing.Stripes;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Training and prediction on a standalone cluster of two workers with the Kryo serializer, compared with one machine.
 *
 * <p>Both are one application: executors take longer to start than to do their work. By its name it runs after the tests in
 * a local session, which it stops.
 */
class StandaloneClusterTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final int IMAGES = FULL ? 400 : 40;
    private static final String CROPS = FULL ? "paper:64" : "center:48";

    /** 10 steps, or 750 at full size. */
    private static final int EPOCHS = FULL ? 1 : 2;

    /** Steps whose losses are compared one by one: SGD amplifies the rounding of another order of summation with every step. */
    private static final int SAME_STEPS = FULL ? 100 : 10;

    private static final int LAST = FULL ? 50 : 5;
    private static final int STEP_OF_KILL = FULL ? 15 : 3;

    private static final int PREDICTED = FULL ? 2000 : 48;
    /** One in so many is broken. */
    private static final int BROKEN = FULL ? 40 : 6;

    private static final int PARTITIONS = FULL ? 20 : 6;

    private static StandaloneCluster cluster;
    private static SparkSession spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void begin() throws IOException, InterruptedException {
        cluster = StandaloneCluster.shared();
        spark = SparkSession.builder()
                .config(cluster.conf("cluster")
                        .set("spark.serializer", KryoSerializer.class.getName())
                        .set("spark.sql.shuffle.partitions", "2"))
                .getOrCreate();
    }

    @AfterAll
    static void end() {
        spark.stop();
    }

    @BeforeEach
    void startWorkers() throws IOException, InterruptedException {
        cluster.replaceKilled();
    }

    @Test
    @Timeout(900)
    void lossesOfTwoWorkersEqualOneMachineAndKilledWorkerChangesNoBit() throws Exception {
        List<Path> images = Stripes.write(folder.resolve("images"), IMAGES);
        Settings requested = SmallDistributedTraining.requested(CROPS, EPOCHS);
        double[] losses = train(images, requested, folder.resolve("left-alone"), _ -> {});
        RunConfig config =
                RunConfig.of(ConfigFile.read(folder.resolve("left-alone").resolve("config.yaml")));

        assertThat(losses).hasSizeGreaterThanOrEqualTo(SAME_STEPS);
        double[] alone = SmallDistributedTraining.onOneMachine(images, 0, config);
        assertThat(losses).hasSameSizeAs(alone);
        assertThat(Arrays.copyOf(losses, SAME_STEPS)).containsExactly(Arrays.copyOf(alone, SAME_STEPS), within(1e-4));
        assertThat(last(losses, LAST)).isCloseTo(last(alone, LAST), withinPercentage(10));
        if (FULL) {
            double[] nudged = SmallDistributedTraining.onOneMachine(images, 0, config, SmallDistributedTraining::nudge);
            assertThat(furthest(losses, alone))
                    .as("one machine does not come nearer to itself after a last bit is changed")
                    .isLessThan(3 * furthest(nudged, alone));
            assertThat(last(losses, 5))
                    .as("learned something")
                    .isLessThan(0.8 * Arrays.stream(losses).limit(5).average().orElseThrow());
        }

        LostStep lost = new LostStep(cluster, spark.sparkContext());
        double[] broken = train(images, requested, folder.resolve("killed"), step -> {
            if (step == STEP_OF_KILL) {
                lost.killInNextTask();
            } else if (FULL && step == 2 * STEP_OF_KILL) {
                kill();
            }
        });
        assertThat(lost.tasks())
                .as("tasks that were running when their worker was killed")
                .isPositive();
        assertThat(broken).containsExactly(losses);
        assertThat(model("killed")).isEqualTo(model("left-alone"));
    }

    @Test
    @Timeout(600)
    void predictionsOfTwoExecutorsEqualOneMachineAfterAKilledWorker() throws Exception {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        List<Path> images = SmallModel.images(folder.resolve("images"), PREDICTED, BROKEN);
        Path stuck = folder.resolve("stuck");
        String out = folder.resolve("out").toString();
        assertThat(executors(Files.createDirectory(folder.resolve("running")).toString()))
                .hasSize(2)
                .doesNotContain("driver");
        Dataset<Row> paths = spark.createDataset(
                        images.stream().map(Path::toString).toList(), Encoders.STRING())
                .toDF("path")
                .repartition(PARTITIONS)
                .filter(stuckOnce(stuck.toString()));
        Dataset<Row> scored =
                GramianModel.fromFile(file.toString()).setInputCol("path").transform(paths);
        CompletableFuture<Void> written =
                CompletableFuture.runAsync(() -> scored.write().parquet(out));
        cluster.killWorkerOf(written(stuck));
        written.get(600, TimeUnit.SECONDS);

        OneMachine.assertSame(spark.read().parquet(out).collectAsList(), OneMachine.predict(file, images));
    }

    /** Returns the executors of two tasks that run at the same time: each waits until both have a file in a folder. */
    private static Set<String> executors(String running) {
        return new HashSet<>(JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(List.of(1, 2), 2)
                .map(number -> {
                    Files.createFile(Path.of(running, number.toString()));
                    Await.until("both tasks", () -> Path.of(running).toFile().list().length == 2);
                    return SparkEnv.get().executorId();
                })
                .collect());
    }

    /** Passes all rows, but blocks one task once and writes its process id to a file: another task must repeat its rows. */
    private static FilterFunction<Row> stuckOnce(String file) {
        return _ -> {
            Path stuck = Path.of(file);
            if (TaskContext.getPartitionId() == PARTITIONS / 3 && Files.notExists(stuck)) {
                Path draft = Files.writeString(
                        Path.of(file + ".draft"),
                        String.valueOf(ProcessHandle.current().pid()));
                Files.move(draft, stuck);
                Thread.sleep(Long.MAX_VALUE);
            }
            return true;
        };
    }

    private static long written(Path file) throws Exception {
        Await.until(file + "", () -> Files.exists(file));
        return Long.parseLong(Files.readString(file));
    }

    private static double furthest(double[] some, double[] others) {
        return IntStream.range(0, some.length)
                .mapToDouble(i -> Math.abs(some[i] - others[i]))
                .max()
                .orElseThrow();
    }

    /** Returns the mean of the last losses. */
    private static double last(double[] losses, int count) {
        return Arrays.stream(losses).skip(losses.length - count).average().orElseThrow();
    }

    private byte[] model(String run) throws IOException {
        return Files.readAllBytes(folder.resolve(run).resolve("model.safetensors"));
    }

    private static double[] train(List<Path> images, Settings requested, Path run, IntConsumer stepped)
            throws IOException {
        SmallDistributedTraining.Losses losses = new SmallDistributedTraining.Losses();
        SparkTrainer trainer = SmallDistributedTraining.trainer(
                event -> {
                    int before = losses.count();
                    losses.accept(event);
                    if (losses.count() > before) {
                        stepped.accept(losses.count());
                    }
                },
                Cancellation.onRequest());
        TrainingJob job = new TrainingJob(
                SmallDistributedTraining.table(spark, images, 0),
                TrainingColumns.of("path", "label"),
                requested,
                run.toString(),
                false,
                "auto");
        TrainingOutcome trained = trainer.train(job);
        assertThat(trained.model()).isPresent();
        assertThat(trained.unreadable()).isZero();
        return losses.all();
    }

    /** Kills a worker between two steps, after the first killed one was replaced. */
    private static void kill() {
        try {
            cluster.replaceKilled();
            cluster.killWorkerOf(LostStep.anExecutor(spark.sparkContext()).process());
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
