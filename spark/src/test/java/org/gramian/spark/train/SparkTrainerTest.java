package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Keys;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.spark.train.SparkTrainer.Control;
import org.gramian.train.loop.Breaks;
import org.gramian.train.loop.Keeper;
import org.gramian.train.loop.TrainEvent;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkTrainerTest {
    private static final int PICTURES = 36;
    private static final int BROKEN = 7;
    private static final int JUDGING = 5;
    private static final TrainingColumns JUDGED = new TrainingColumns("path", "path", "label", "judges");

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static List<Path> pictures;
    private static List<Path> whole;

    @BeforeAll
    static void begin() throws IOException {
        spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "2")
                .getOrCreate();
        pictures = SmallModel.pictures(folder.resolve("pictures"), PICTURES, BROKEN);
        whole = Stripes.write(folder.resolve("whole"), PICTURES);
    }

    @AfterAll
    static void end() {
        spark.stop();
    }

    private static TrainingJob job(List<Path> files, Settings asked, String run) {
        Dataset<Row> table = SmallTraining.table(spark, files, JUDGING);
        return new TrainingJob(table, JUDGED, asked, folder.resolve(run).toString(), true, "auto");
    }

    private static byte[] model(String run) throws IOException {
        return Files.readAllBytes(folder.resolve(run).resolve("model.safetensors"));
    }

    /** What lies below a folder, with the times of its files. */
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

    @Test
    void aTrainingThatWasBrokenEndsAsOneThatWasNotAndComputesNoFeatureTwice() throws IOException {
        Settings asked = SmallTraining.asked("paper:48", 2);
        Trained alone = SparkTrainer.usual().train(job(pictures, asked, "alone"));
        Breaks breaks = Breaks.whenAsked();
        int[] steps = {0};
        Control control = new Control(
                event -> {
                    if (event instanceof TrainEvent.Stepped && ++steps[0] == 17) {
                        breaks.ask();
                    }
                },
                _ -> {},
                breaks,
                Keeper.DEFAULT_INTERVAL);
        Trained broken = SparkTrainer.usual().under(control).train(job(pictures, asked, "broken"));
        Map<String, Long> features = files(broken.features());

        assertThat(broken.early()).contains(Breaks.Reason.ASKED);
        assertThat(broken.model()).isEmpty();
        assertThat(folder.resolve("broken").resolve("checkpoint.safetensors")).exists();

        Trained resumed = SparkTrainer.usual().train(job(pictures, asked, "broken"));

        assertThat(files(resumed.features())).isEqualTo(features).isNotEmpty();
        assertThat(resumed)
                .usingRecursiveComparison()
                .ignoringFields("model", "features")
                .isEqualTo(alone);
        assertThat(model("broken")).isEqualTo(model("alone"));
        assertThat(folder.resolve("broken").resolve("history.csv"))
                .hasSameBinaryContentAs(folder.resolve("alone").resolve("history.csv"));
        assertThat(folder.resolve("broken").resolve("checkpoint.safetensors")).doesNotExist();
        assertThat(alone.unreadable()).isEqualTo(PICTURES / BROKEN);
        assertThat(alone.training() + alone.heldBack()).isEqualTo(PICTURES - PICTURES / BROKEN);
        assertReasons(alone);
    }

    /** Each picture that cannot be read is one row with its reason, in the words of {@code audit}. */
    private static void assertReasons(Trained trained) {
        List<Row> rows = spark.read()
                .parquet(trained.features() + "/training", trained.features() + "/held-back")
                .where("reason IS NOT NULL")
                .collectAsList();
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.<Object>getAs("feature")).isNull());
        assertThat(rows.stream().map(row -> row.<String>getAs("reason")))
                .contains("expected a picture, found a file of no bytes");
    }

    @Test
    void aFolderWithARunIsTakenOnlyToGoOnWithIt() throws IOException {
        Settings asked = SmallTraining.asked("center:48", 1);
        TrainingJob first = job(whole, asked, "begun");
        Breaks breaks = Breaks.whenAsked();
        SparkTrainer stopped = SparkTrainer.usual()
                .under(new Control(
                        event -> {
                            if (event instanceof TrainEvent.Stepped) {
                                breaks.ask();
                            }
                        },
                        _ -> {},
                        breaks,
                        Keeper.DEFAULT_INTERVAL));
        stopped.train(first);

        assertThatThrownBy(() -> SparkTrainer.usual()
                        .train(new TrainingJob(first.pictures(), JUDGED, asked, first.folder(), false, "auto")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("expected a folder for a new run, found one that was begun");
        assertThatThrownBy(() -> SparkTrainer.usual().train(job(whole, asked.with(Keys.MOMENTUM, 0.5), "begun")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("it belongs to a run with another configuration, other pictures");
    }

    @Test
    void whatIsLostOfAFeatureTableIsComputedAgainAndNothingElse() throws IOException {
        Settings asked = SmallTraining.asked("center:48", 1);
        Trained first = SparkTrainer.usual().train(job(whole, asked, "lost"));
        byte[] before = model("lost");
        List<Row> rows = rows(first);
        Map<String, Long> features = files(first.features() + "/training");
        Path table = Path.of(first.features().replaceFirst("^file:", ""), "training");
        features.remove(part(table).toString());
        loseAPart(table);
        Files.delete(folder.resolve("lost").resolve("model.safetensors"));

        Trained again = SparkTrainer.usual().train(job(whole, asked, "lost"));

        assertThat(files(again.features() + "/training"))
                .containsAllEntriesOf(features)
                .hasSizeGreaterThan(features.size());
        assertSameRows(again, rows);
        assertThat(model("lost")).isEqualTo(before);
    }

    @Test
    void whatAKilledDriverLeftHalfWrittenIsNotTakenForFeatures() throws IOException {
        Settings asked = SmallTraining.asked("center:48", 1);
        Trained first = SparkTrainer.usual().train(job(whole, asked, "stale"));
        List<Row> rows = rows(first);
        byte[] before = model("stale");
        Path table = Path.of(first.features().replaceFirst("^file:", ""), "training");

        loseAPart(table); // so that something is appended
        Path task = Files.createDirectories(table.resolve("_temporary/0/task_202601010000000000000000000_0001_m_000000"));
        Files.copy(part(table), task.resolve("part-00000-stale.snappy.parquet"));
        Files.delete(folder.resolve("stale").resolve("model.safetensors"));
        assertSameRows(SparkTrainer.usual().train(job(whole, asked, "stale")), rows);
        assertThat(model("stale")).isEqualTo(before);

        Files.delete(table.resolve("_SUCCESS")); // as if it had been killed while the first append was committed
        loseAPart(table);
        Files.delete(folder.resolve("stale").resolve("model.safetensors"));
        assertSameRows(SparkTrainer.usual().train(job(whole, asked, "stale")), rows);
        assertThat(model("stale")).isEqualTo(before);
    }

    @Test
    void aTableThatHasACropTwiceIsNotLearnedFrom() throws IOException {
        Settings asked = SmallTraining.asked("center:48", 1);
        Trained first = SparkTrainer.usual().train(job(whole, asked, "twice"));
        Path table = Path.of(first.features().replaceFirst("^file:", ""), "training");
        Files.copy(part(table), table.resolve("part-00000-again.snappy.parquet"));
        Files.delete(folder.resolve("twice").resolve("model.safetensors"));

        assertThatThrownBy(() -> SparkTrainer.usual().train(job(whole, asked, "twice")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("expected 29 rows, one for each crop of 29 pictures, found ")
                .hasMessageContaining("29 are different crops; remove the folder");
    }

    private static Path part(Path table) throws IOException {
        return Path.of(files(table.toString()).keySet().iterator().next());
    }

    private static void loseAPart(Path table) throws IOException {
        Path gone = part(table);
        Files.delete(gone);
        Files.delete(gone.resolveSibling("." + gone.getFileName() + ".crc"));
    }

    private static void assertSameRows(Trained trained, List<Row> rows) {
        assertThat(rows(trained))
                .usingElementComparator((a, b) -> a.toString().compareTo(b.toString()))
                .isEqualTo(rows);
    }

    private static List<Row> rows(Trained trained) {
        return spark.read()
                .parquet(trained.features() + "/training")
                .withColumn("feature", functions.sha2(functions.col("feature"), 256))
                .orderBy("number", "crop")
                .collectAsList();
    }

    @Test
    void whatIsFittedScaledAndJudgedIsAsOnOneMachine() throws IOException {
        Settings asked = Settings.NONE
                .with(Keys.BACKBONE, "filters")
                .with(Keys.POOLING, "pca:4/bilinear/triu")
                .with(Keys.CROPS, CropPlan.parse("paper:48"))
                .with(Keys.STAGE1_EPOCHS, 3);
        SmallTraining.Losses losses = new SmallTraining.Losses();
        List<TrainEvent.EpochDone> epochs = new ArrayList<>();
        Control control = new Control(
                event -> {
                    losses.accept(event);
                    if (event instanceof TrainEvent.EpochDone done) {
                        epochs.add(done);
                    }
                },
                _ -> {},
                Breaks.whenAsked(),
                Keeper.DEFAULT_INTERVAL);
        Trained trained = SparkTrainer.usual().under(control).train(job(whole, asked, "fitted"));
        RunConfig config = RunConfig.of(ConfigFile.read(folder.resolve("fitted").resolve("config.yaml")));

        assertThat(config.recipe().stage1().perLength()).isTrue();
        assertThat(losses.all()).containsExactly(SmallTraining.onOneMachine(whole, JUDGING, config), within(1e-4));
        assertThat(epochs)
                .hasSize(3)
                .allSatisfy(
                        epoch -> assertThat(epoch.judgement().loss()).isFinite().isNotEqualTo(epoch.loss()));
        ModelHeader header = ModelFile.header(folder.resolve("fitted").resolve("model.safetensors"));
        assertThat(header.card().classes()).isEqualTo(SmallModel.CLASSES);
        assertThat(header.card().origin())
                .containsEntry("pictures", trained.training() + " to train on, " + trained.heldBack() + " held back")
                .doesNotContainKey("config.data.protocol");
    }

    @Test
    void aShareOfEveryClassIsHeldBackByTheSeedAlone() {
        Catalogue.Holding holding = new Catalogue.Holding(0.25, 3);
        TrainingColumns columns = TrainingColumns.of("path", "label");
        Dataset<Row> table = SmallTraining.table(spark, whole, 0);
        Catalogue one = Catalogue.of(table, columns, holding);
        Catalogue same = Catalogue.of(table.repartition(5), columns, holding);
        Catalogue other = Catalogue.of(table, columns, new Catalogue.Holding(0.25, 4));

        assertThat(one.all() - one.training()).isEqualTo(9);
        assertThat(one.pictures().where("held").groupBy("label").count().collectAsList())
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(3));
        assertThat(same.fingerprint()).isEqualTo(one.fingerprint()).isNotEqualTo(other.fingerprint());
        List<Row> numbers = one.pictures()
                .orderBy("number")
                .select("number", "held", "name")
                .collectAsList();
        for (int i = 0; i < numbers.size(); i++) {
            assertThat(numbers.get(i).getLong(0)).isEqualTo(i);
            assertThat(numbers.get(i).getBoolean(1)).isEqualTo(i >= one.training());
        }
        assertThat(new HashSet<>(numbers)).hasSize(PICTURES);
    }

    @Test
    void whatCannotBeTrainedIsSaidBeforeAnythingIsComputed() {
        Settings asked = SmallTraining.asked("center:48", 1);
        Dataset<Row> table = SmallTraining.table(spark, whole, 0);
        assertRefused(
                table.union(table), asked, "expected a name of its own for each of 72 pictures in 'path', found 36");
        assertRefused(table.drop("label"), asked, "expected a column 'label', found path, judges");
        assertRefused(table.where("label = 'glass'"), asked, "a model tells at least 2 classes apart, found 1");
        assertRefused(
                table.withColumn("label", functions.expr("IF(label = 'glass', NULL, label)")),
                asked,
                "expected a label in every row of 'label', found 12 nulls");
        assertRefused(table.withColumn("label", functions.lit(0.5)), asked, "expected whole numbers from 0 to 100000");
        assertRefused(table, asked.with(Keys.LOGIT_NORM, true), "train it on one machine");
        assertRefused(table, asked.with(Keys.STAGE2_EPOCHS, 2), "expected no epoch of stage 2");
    }

    private static void assertRefused(Dataset<Row> table, Settings asked, String reason) {
        TrainingJob job = new TrainingJob(
                table,
                TrainingColumns.of("path", "label"),
                asked,
                folder.resolve("refused").toString(),
                true,
                "auto");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SparkTrainer.usual().train(job))
                .withMessageContaining(reason);
    }
}
