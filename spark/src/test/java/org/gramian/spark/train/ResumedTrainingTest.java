package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs in folders of interrupted or finished runs. */
class ResumedTrainingTest {
    private static final int IMAGES = 36;
    private static final int BROKEN = 7;
    private static final int VALIDATION_EVERY = 5;
    private static final TrainingColumns COLUMNS = new TrainingColumns("path", "path", "label", "validation");

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final Settings REQUESTED =
            SmallDistributedTraining.requested(FULL ? "paper:48" : "center:48", FULL ? 2 : 1);

    private static @Nullable TrainingOutcome alone;
    private static List<Path> images;
    private static List<Path> whole;

    @BeforeAll
    static void begin() throws IOException {
        spark = LocalSpark.session();
        images = SmallModel.images(folder.resolve("images"), IMAGES, BROKEN);
        whole = Stripes.write(folder.resolve("whole"), IMAGES);
    }

    private static TrainingJob job(List<Path> files, Settings requested, String run) {
        Dataset<Row> table = SmallDistributedTraining.table(spark, files, VALIDATION_EVERY);
        return new TrainingJob(table, COLUMNS, requested, folder.resolve(run).toString(), true, "auto");
    }

    private static byte[] model(String run) throws IOException {
        return Files.readAllBytes(folder.resolve(run).resolve("model.safetensors"));
    }

    /** Returns the Parquet files below a folder with their modification times. */
    private static Map<String, Long> files(String path) throws IOException {
        Map<String, Long> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(Path.of(path.replaceFirst("^file:", "")))) {
            for (Path file :
                    all.filter(each -> each.toString().endsWith(".parquet")).toList()) {
                found.put(file.toString(), Files.getLastModifiedTime(file).toMillis());
            }
        }
        return found;
    }

    /** A run without interruption, trained once. */
    private static TrainingOutcome alone() throws IOException {
        if (alone == null) {
            alone = SparkTrainer.create().train(job(images, REQUESTED, "alone"));
        }
        return alone;
    }

    @Test
    void interruptedRunIsRejectedUnlessResumedAndThenEqualsUninterruptedTraining() throws IOException {
        TrainingOutcome alone = alone();
        Cancellation cancellation = Cancellation.onRequest();
        int[] steps = {0};
        SparkTrainer trainer = SmallDistributedTraining.trainer(
                event -> {
                    if (event instanceof TrainEvent.Stepped && ++steps[0] == (FULL ? 17 : 2)) {
                        cancellation.cancel();
                    }
                },
                cancellation);
        TrainingOutcome interrupted = trainer.train(job(images, REQUESTED, "interrupted"));
        Map<String, Long> features = files(interrupted.features());

        assertThat(interrupted.interruption()).contains(Cancellation.Reason.CANCELLED);
        assertThat(interrupted.model()).isEmpty();
        assertThat(folder.resolve("interrupted").resolve("checkpoint.safetensors"))
                .exists();

        assertRejectedUnlessResumedWithSameSettings("interrupted");

        TrainingOutcome resumed = SparkTrainer.create().train(job(images, REQUESTED, "interrupted"));

        assertThat(files(resumed.features())).isEqualTo(features).isNotEmpty();
        assertThat(resumed)
                .usingRecursiveComparison()
                .ignoringFields("model", "features")
                .isEqualTo(alone);
        assertThat(model("interrupted")).isEqualTo(model("alone"));
        assertThat(folder.resolve("interrupted").resolve("history.csv"))
                .hasSameBinaryContentAs(folder.resolve("alone").resolve("history.csv"));
        assertThat(folder.resolve("interrupted").resolve("checkpoint.safetensors"))
                .doesNotExist();
        assertThat(alone.unreadable()).isEqualTo(IMAGES / BROKEN);
        assertThat(alone.training() + alone.validation()).isEqualTo(IMAGES - IMAGES / BROKEN);
        assertReasons(resumed);
    }

    /** Checks that each unreadable image is one row with a reason. */
    private static void assertReasons(TrainingOutcome trained) {
        List<Row> rows = spark.read()
                .parquet(trained.features() + "/training", trained.features() + "/validation")
                .where("reason IS NOT NULL")
                .collectAsList();
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.<Object>getAs("feature")).isNull());
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.<String>getAs("reason")).isNotBlank());
    }

    private static void assertRejectedUnlessResumedWithSameSettings(String run) {
        TrainingJob job = job(images, REQUESTED, run);
        assertThatThrownBy(() -> SparkTrainer.create()
                        .train(new TrainingJob(job.images(), COLUMNS, REQUESTED, job.folder(), false, "auto")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(run);
        assertThatThrownBy(
                        () -> SparkTrainer.create().train(job(images, REQUESTED.with("optimizer.momentum", 0.5), run)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(run);
    }

    @Test
    void featureTableHasEachCropOnceAfterDriverWasKilled() throws IOException {
        Settings requested = SmallDistributedTraining.requested("center:48", 1);
        TrainingOutcome first = SparkTrainer.create().train(job(whole, requested, "left"));
        List<String> rows = rows(first);
        byte[] before = model("left");
        Path table = Path.of(first.features().replaceFirst("^file:", ""), "training");

        Map<String, Long> features = files(table.toString());
        features.remove(part(table).toString());
        deletePart(table);
        Path task =
                Files.createDirectories(table.resolve("_temporary/0/task_202601010000000000000000000_0001_m_000000"));
        Files.copy(part(table), task.resolve("part-00000-stale.snappy.parquet"));
        assertThat(rows(trainedAgain(requested))).isEqualTo(rows);
        assertThat(model("left")).isEqualTo(before);
        assertThat(files(table.toString())).containsAllEntriesOf(features).hasSizeGreaterThan(features.size());

        if (FULL) {
            Files.delete(table.resolve("_SUCCESS")); // as if killed during the first commit
            deletePart(table);
            assertThat(rows(trainedAgain(requested))).isEqualTo(rows);
            assertThat(model("left")).isEqualTo(before);
        }

        Files.copy(part(table), table.resolve("part-00000-again.snappy.parquet"));
        assertThatThrownBy(() -> trainedAgain(requested))
                .isInstanceOf(IOException.class)
                .hasMessageMatching("(?s).*\\b29\\b.*\\b29\\b.*\\b29\\b.*");
    }

    /** Deletes the model and trains again. */
    private static TrainingOutcome trainedAgain(Settings requested) throws IOException {
        Files.delete(folder.resolve("left").resolve("model.safetensors"));
        return SparkTrainer.create().train(job(whole, requested, "left"));
    }

    private static Path part(Path table) throws IOException {
        return Path.of(files(table.toString()).keySet().iterator().next());
    }

    private static void deletePart(Path table) throws IOException {
        Path gone = part(table);
        Files.delete(gone);
        Files.delete(gone.resolveSibling("." + gone.getFileName() + ".crc"));
    }

    @Test
    void finishedRunIsNotTrainedAgain() throws IOException {
        TrainingOutcome first = alone();
        byte[] before = model("alone");
        deleteAll(Path.of(first.features().replaceFirst("^file:", ""))); // not needed any more
        List<TrainEvent> events = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        SparkTrainer trainer = SmallDistributedTraining.trainer(events::add, Cancellation.onRequest())
                .withWarnings(warnings::add);

        TrainingOutcome again = trainer.train(job(images, REQUESTED, "alone"));

        assertThat(again).isEqualTo(first);
        assertThat(first.unreadable()).isEqualTo(IMAGES / BROKEN);
        assertThat(events).isEmpty();
        assertThat(warnings).hasSize(1);
        assertThat(model("alone")).isEqualTo(before);
        assertThatThrownBy(() -> trainer.train(job(images, REQUESTED.with("optimizer.momentum", 0.5), "alone")))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("model.safetensors: ", "config.optimizer.momentum", "0.5", "0.9");
        assertThatThrownBy(() -> trainer.train(job(whole, REQUESTED, "alone")))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("model.safetensors: ", "fingerprint");
        assertThat(model("alone")).isEqualTo(before);
    }

    private static void deleteAll(Path path) throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(each);
            }
        }
    }

    /** Returns all rows as text, features as hashes. */
    private static List<String> rows(TrainingOutcome trained) {
        return spark
                .read()
                .parquet(trained.features() + "/training")
                .withColumn("feature", functions.sha2(functions.col("feature"), 256))
                .orderBy("number", "crop")
                .collectAsList()
                .stream()
                .map(Row::toString)
                .toList();
    }
}
