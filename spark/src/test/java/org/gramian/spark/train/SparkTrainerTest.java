package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.spark.train.SparkTrainer.Control;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.TrainEvent;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkTrainerTest {
    private static final int PICTURES = 36;
    private static final int JUDGING = 5;
    private static final TrainingColumns JUDGED = new TrainingColumns("path", "path", "label", "judges");

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static List<Path> whole;

    @BeforeAll
    static void begin() throws IOException {
        spark = LocalSpark.session();
        whole = Stripes.write(folder.resolve("whole"), PICTURES);
    }

    private static TrainingJob job(List<Path> files, Settings requested, String run) {
        Dataset<Row> table = SmallDistributedTraining.table(spark, files, JUDGING);
        return new TrainingJob(table, JUDGED, requested, folder.resolve(run).toString(), true, "auto");
    }

    @Test
    void whatIsFittedScaledAndJudgedIsAsOnOneMachine() throws IOException {
        Settings requested = Settings.NONE
                .with(Keys.BACKBONE, "filters")
                .with(Keys.POOLING, "pca:4/bilinear/triu")
                .with(Keys.CROPS, CropPlan.parse("paper:48"))
                .with(Keys.STAGE1_EPOCHS, 3);
        SmallDistributedTraining.Losses losses = new SmallDistributedTraining.Losses();
        List<TrainEvent.EpochDone> epochs = new ArrayList<>();
        Control control = new Control(
                event -> {
                    losses.accept(event);
                    if (event instanceof TrainEvent.EpochDone done) {
                        epochs.add(done);
                    }
                },
                _ -> {},
                Cancellation.onRequest(),
                Checkpointing.DEFAULT_INTERVAL);
        TrainingOutcome trained = SparkTrainer.usual().under(control).train(job(whole, requested, "fitted"));
        RunConfig config = RunConfig.of(ConfigFile.read(folder.resolve("fitted").resolve("config.yaml")));

        assertThat(config.recipe().stage1().perLength()).isTrue();
        assertThat(losses.all())
                .containsExactly(SmallDistributedTraining.onOneMachine(whole, JUDGING, config), within(1e-4));
        assertThat(epochs)
                .hasSize(3)
                .allSatisfy(epoch ->
                        assertThat(epoch.validation().loss()).isFinite().isNotEqualTo(epoch.loss()));
        ModelHeader header = ModelFile.header(folder.resolve("fitted").resolve("model.safetensors"));
        assertThat(header.card().classes()).isEqualTo(SmallModel.CLASSES);
        assertThat(header.card().origin())
                .hasEntrySatisfying(
                        "pictures",
                        counts -> assertThat(counts).matches(trained.training() + "\\D+" + trained.heldBack() + "\\D+"))
                .doesNotContainKey("config.data.protocol");
    }

    @Test
    void aShareOfEveryClassIsHeldBackByTheSeedAlone() {
        ImageCatalog.Holding holding = new ImageCatalog.Holding(0.25, 3);
        TrainingColumns columns = TrainingColumns.of("path", "label");
        Dataset<Row> table = SmallDistributedTraining.table(spark, whole, 0);
        ImageCatalog one = ImageCatalog.of(table, columns, holding);
        ImageCatalog same = ImageCatalog.of(table.repartition(5), columns, holding);
        ImageCatalog other = ImageCatalog.of(table, columns, new ImageCatalog.Holding(0.25, 4));

        assertThat(one.all() - one.training()).isEqualTo(9);
        assertThat(one.numbered().where("held").groupBy("label").count().collectAsList())
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(3));
        assertThat(same.fingerprint()).isEqualTo(one.fingerprint()).isNotEqualTo(other.fingerprint());
        List<Row> numbers = one.images(one.numbered())
                .orderBy("number")
                .select("number", "held", "name", "picture")
                .collectAsList();
        for (int i = 0; i < numbers.size(); i++) {
            assertThat(numbers.get(i).getLong(0)).isEqualTo(i);
            assertThat(numbers.get(i).getBoolean(1)).isEqualTo(i >= one.training());
            assertThat(numbers.get(i).getString(3)).isEqualTo(numbers.get(i).getString(2));
        }
        assertThat(new HashSet<>(numbers)).hasSize(PICTURES);
    }

    @Test
    void whatCannotBeTrainedIsSaidBeforeAnythingIsComputed() {
        Settings requested = SmallDistributedTraining.requested("center:48", 1);
        Dataset<Row> table = SmallDistributedTraining.table(spark, whole, 0);
        assertRefused(table.union(table), requested, "72", "'path'", "36");
        assertRefused(table.drop("label"), requested, "'label'", "path, judges");
        assertRefused(table.where("label = 'glass'"), requested, "2 classes", "1");
        assertRefused(
                table.withColumn("label", functions.expr("IF(label = 'glass', NULL, label)")),
                requested,
                "'label'",
                "12");
        assertRefused(table.withColumn("label", functions.expr("IF(label = 'glass', 3, 0)")), requested, "'1'");
        assertRefused(table.withColumn("judges", functions.expr("label = 'glass'")), requested, "'glass'", "12");
        assertRefused(table.withColumn("label", functions.lit(0.5)), requested, "0", "100000");
        assertRefused(table, requested.with(Keys.LOGIT_NORM, true), "batch");
        assertRefused(table, requested.with(Keys.STAGE2_EPOCHS, 2), "epoch");
    }

    private static void assertRefused(Dataset<Row> table, Settings requested, String... facts) {
        TrainingJob job = new TrainingJob(
                table,
                JUDGED,
                requested,
                folder.resolve("refused").toString(),
                false, // whatever was refused there before, no run was begun
                "auto");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SparkTrainer.usual().train(job))
                .withMessageContainingAll(facts);
        assertThat(folder.resolve("refused")).isEmptyDirectory();
    }
}
