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
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SparkTrainerTest {
    private static final int IMAGES = 36;
    private static final int VALIDATION_EVERY = 5;
    private static final TrainingColumns COLUMNS = new TrainingColumns("path", "path", "label", "validation");

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static List<Path> whole;

    @BeforeAll
    static void begin() throws IOException {
        spark = LocalSpark.session();
        whole = Stripes.write(folder.resolve("whole"), IMAGES);
    }

    private static TrainingJob job(List<Path> files, Settings requested, String run) {
        Dataset<Row> table = SmallDistributedTraining.table(spark, files, VALIDATION_EVERY);
        return new TrainingJob(table, COLUMNS, requested, folder.resolve(run).toString(), true, "auto");
    }

    @Test
    void fittingScalingAndValidationEqualOneMachine() throws IOException {
        Settings requested = Settings.NONE
                .with("network.backbone", "filters")
                .with("network.pooling", "pca:4/bilinear/triu")
                .with("data.crops", CropPlan.parse(Boolean.getBoolean("gramian.full") ? "paper:48" : "center:48"))
                .with("optimizer.batch", 8)
                .with("stage1.epochs", 3);
        SmallDistributedTraining.Losses losses = new SmallDistributedTraining.Losses();
        List<TrainEvent.EpochDone> epochs = new ArrayList<>();
        SparkTrainer trainer = SmallDistributedTraining.trainer(
                event -> {
                    losses.accept(event);
                    if (event instanceof TrainEvent.EpochDone done) {
                        epochs.add(done);
                    }
                },
                Cancellation.onRequest());
        TrainingOutcome trained = trainer.train(job(whole, requested, "fitted"));
        RunConfig config = RunConfig.of(ConfigFile.read(folder.resolve("fitted").resolve("config.yaml")));

        assertThat(config.recipe().stage1().perLength()).isTrue();
        assertThat(losses.all())
                .containsExactly(SmallDistributedTraining.onOneMachine(whole, VALIDATION_EVERY, config), within(1e-4));
        assertThat(epochs)
                .hasSize(3)
                .allSatisfy(
                        epoch -> assertThat(epoch.validationLoss()).isFinite().isNotEqualTo(epoch.loss()));
        ModelHeader header = ModelFile.header(folder.resolve("fitted").resolve("model.safetensors"));
        assertThat(header.card().classes()).isEqualTo(SmallModel.CLASSES);
        assertThat(header.card().origin())
                .hasEntrySatisfying(
                        "images",
                        counts ->
                                assertThat(counts).matches(trained.training() + "\\D+" + trained.validation() + "\\D+"))
                .doesNotContainKey("config.data.protocol");
    }

    @Test
    void validationSplitIsStratifiedAndDependsOnSeedOnly() {
        ImageCatalog.ValidationSplit split = new ImageCatalog.ValidationSplit(0.25, 3);
        TrainingColumns columns = TrainingColumns.of("path", "label");
        Dataset<Row> table = SmallDistributedTraining.table(spark, whole, 0);
        ImageCatalog one = ImageCatalog.of(table, columns, split);
        ImageCatalog same = ImageCatalog.of(table.repartition(5), columns, split);
        ImageCatalog other = ImageCatalog.of(table, columns, new ImageCatalog.ValidationSplit(0.25, 4));

        assertThat(one.all() - one.training()).isEqualTo(9);
        assertThat(one.numbered().where("validation").groupBy("label").count().collectAsList())
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(3));
        assertThat(same.fingerprint()).isEqualTo(one.fingerprint()).isNotEqualTo(other.fingerprint());
        List<Row> numbers = one.images(one.numbered())
                .orderBy("number")
                .select("number", "validation", "name", "image")
                .collectAsList();
        for (int i = 0; i < numbers.size(); i++) {
            assertThat(numbers.get(i).getLong(0)).isEqualTo(i);
            assertThat(numbers.get(i).getBoolean(1)).isEqualTo(i >= one.training());
            assertThat(numbers.get(i).getString(3)).isEqualTo(numbers.get(i).getString(2));
        }
        assertThat(new HashSet<>(numbers)).hasSize(IMAGES);
    }

    @Test
    void invalidInputIsRejectedBeforeAnyComputation() {
        Settings requested = SmallDistributedTraining.requested("center:48", 1);
        Dataset<Row> table = SmallDistributedTraining.table(spark, whole, 0);
        assertRefused(table.union(table), requested, "72", "'path'", "36");
        assertRefused(table.drop("label"), requested, "'label'", "path, validation");
        assertRefused(table.where("label = 'glass'"), requested, "2 classes", "1");
        assertRefused(
                table.withColumn("label", functions.expr("IF(label = 'glass', NULL, label)")),
                requested,
                "'label'",
                "12");
        assertRefused(table.withColumn("label", functions.expr("IF(label = 'glass', 3, 0)")), requested, "'1'");
        assertRefused(table.withColumn("validation", functions.expr("label = 'glass'")), requested, "'glass'", "12");
        assertRefused(table.withColumn("label", functions.lit(0.5)), requested, "0", "100000");
        assertRefused(table, requested.with("network.logit-norm", true), "batch");
        assertRefused(table, requested.with("stage2.epochs", 2), "epoch");
    }

    private static void assertRefused(Dataset<Row> table, Settings requested, String... facts) {
        TrainingJob job = new TrainingJob(
                table,
                COLUMNS,
                requested,
                folder.resolve("refused").toString(),
                false, // a rejected job leaves no run
                "auto");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SparkTrainer.create().train(job))
                .withMessageContainingAll(facts);
        assertThat(folder.resolve("refused")).isEmptyDirectory();
    }
}
