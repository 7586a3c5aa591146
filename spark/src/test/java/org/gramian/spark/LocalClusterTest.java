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
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.testing.Await;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.SparkHome;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Two executors in processes of their own, which take longer to start than to do their work. */
@EnabledIfSystemProperty(named = "gramian.full", matches = "true")
class LocalClusterTest {
    private static final int PARTITIONS = 20;

    private static SparkSession spark;

    @TempDir
    private Path folder;

    @BeforeAll
    static void begin() throws IOException {
        SparkHome.below(Path.of("target", "cluster"));
        LocalSpark.stop(); // a JVM has one Spark context at a time
        spark = LocalSpark.builder("local-cluster[2,1,768]")
                .config("spark.executor.memory", "768m")
                .config("spark.executor.extraClassPath", SparkHome.ownClassPath())
                .config("spark.executorEnv.OMP_WAIT_POLICY", "passive")
                .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
                .getOrCreate();
    }

    @AfterAll
    static void end() {
        spark.stop();
    }

    @Test
    @Timeout(600)
    void predictionsAndTrainingSurviveAKilledExecutor() throws Exception {
        Path file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        List<Path> images = SmallModel.images(folder.resolve("images"), 400, 40);
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
        Await.until(stuck + "", () -> Files.exists(stuck));
        ProcessHandle.of(Long.parseLong(Files.readString(stuck))).orElseThrow().destroyForcibly();
        written.get(600, TimeUnit.SECONDS);

        Dataset<Row> predicted = spark.read().parquet(out);
        OneMachine.assertSame(predicted.collectAsList(), OneMachine.predict(file, images));
        GramianModel trained = new GramianClassifier()
                .setInputCol("path")
                .setBackbone("filters")
                .setPooling("covariance/triu")
                .setClassifier("lda")
                .fit(predicted.where("error IS NULL").selectExpr("path", "predictedClass AS label"));
        assertThat(trained.classes()).isSubsetOf(SmallModel.CLASSES);
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
}
