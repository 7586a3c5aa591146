package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.StandaloneCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandaloneClusterTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final int PICTURES = FULL ? 2000 : 120;
    /** One in so many is broken. */
    private static final int BROKEN = FULL ? 40 : 12;

    private static StandaloneCluster cluster;

    @TempDir
    private Path folder;

    @BeforeAll
    static void begin() throws IOException, InterruptedException {
        cluster = StandaloneCluster.start("model", new StandaloneCluster.Sizes(2, 1, 768));
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void whatAModelSaysOnTwoExecutorsIsCompleteAndThatOfOneMachineThoughAWorkerIsKilled() throws Exception {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        List<Path> pictures = SmallModel.pictures(folder.resolve("pictures"), PICTURES, BROKEN);
        Path marks = Files.createDirectory(folder.resolve("marks"));
        String out = folder.resolve("out").toString();
        try (SparkSession spark =
                SparkSession.builder().config(cluster.conf("model")).getOrCreate()) {
            assertThat(executors(spark)).hasSize(2).doesNotContain("driver");
            Dataset<Row> paths = spark.createDataset(
                            pictures.stream().map(Path::toString).toList(), Encoders.STRING())
                    .toDF("path")
                    .repartition(20)
                    .filter(slowly(marks.toString(), PICTURES / 20));
            Dataset<Row> scored =
                    GramianModel.fromFile(file.toString()).setInputCol("path").transform(paths);
            CompletableFuture<Void> written =
                    CompletableFuture.runAsync(() -> scored.write().parquet(out));
            awaitMarks(marks, PICTURES / 3);
            cluster.killWorker();
            written.get(600, TimeUnit.SECONDS);

            // What the killed one was doing was done again.
            assertThat(marks(marks)).as("rows that were worked on").isGreaterThan(PICTURES);
            OneMachine.assertSame(spark.read().parquet(out).collectAsList(), OneMachine.predict(file, pictures));
        }
    }

    private static Set<String> executors(SparkSession spark) {
        return new HashSet<>(JavaSparkContext.fromSparkContext(spark.sparkContext())
                .parallelize(List.of(1, 2), 2)
                .map(_ -> {
                    Thread.sleep(1000); // so that the other task is not given to the same executor
                    return SparkEnv.get().executorId();
                })
                .collect());
    }

    /** A task takes half a second longer than it would, so that a worker can be killed before all is done. */
    private static FilterFunction<Row> slowly(String marks, int rows) {
        return _ -> {
            mark(marks, 500 / rows);
            return true;
        };
    }

    private static void mark(String folder, long milliseconds) throws IOException, InterruptedException {
        Files.createTempFile(Path.of(folder), TaskContext.get().taskAttemptId() + "-", "");
        Thread.sleep(milliseconds);
    }

    private static void awaitMarks(Path folder, int count) throws IOException, InterruptedException {
        while (marks(folder) < count) {
            Thread.sleep(20);
        }
    }

    private static long marks(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.count();
        }
    }
}
