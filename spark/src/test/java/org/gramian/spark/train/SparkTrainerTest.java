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
import org.gramian.train.loop.Breaks;
import org.gramian.train.loop.Keeper;
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

    private static TrainingJob job(List<Path> files, Settings asked, String run) {
        Dataset<Row> table = SmallTraining.table(spark, files, JUDGING);
        return new TrainingJob(table, JUDGED, asked, folder.resolve(run).toString(), true, "auto");
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
                .containsEntry("pictures", trained.training() + " training, " + trained.heldBack() + " validation")
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
        assertThat(one.numbered().where("held").groupBy("label").count().collectAsList())
                .hasSize(3)
                .allSatisfy(row -> assertThat(row.getLong(1)).isEqualTo(3));
        assertThat(same.fingerprint()).isEqualTo(one.fingerprint()).isNotEqualTo(other.fingerprint());
        List<Row> numbers = one.pictures(one.numbered())
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
        Settings asked = SmallTraining.asked("center:48", 1);
        Dataset<Row> table = SmallTraining.table(spark, whole, 0);
        assertRefused(table.union(table), asked, "72 images in 'path', found 36");
        assertRefused(table.drop("label"), asked, "expected a column 'label', found path, judges");
        assertRefused(table.where("label = 'glass'"), asked, "at least 2 classes, found 1");
        assertRefused(
                table.withColumn("label", functions.expr("IF(label = 'glass', NULL, label)")),
                asked,
                "expected a label in every row of 'label', found 12 nulls");
        assertRefused(table.withColumn("label", functions.expr("IF(label = 'glass', 3, 0)")), asked, "of '1'");
        assertRefused(table.withColumn("judges", functions.expr("label = 'glass'")), asked, "of 'glass': all its 12");
        assertRefused(table.withColumn("label", functions.lit(0.5)), asked, "expected whole numbers from 0 to 100000");
        assertRefused(table, asked.with(Keys.LOGIT_NORM, true), "distributed training");
        assertRefused(table, asked.with(Keys.STAGE2_EPOCHS, 2), "found 2 epochs");
    }

    private static void assertRefused(Dataset<Row> table, Settings asked, String reason) {
        TrainingJob job = new TrainingJob(
                table,
                JUDGED,
                asked,
                folder.resolve("refused").toString(),
                false, // whatever was refused there before, no run was begun
                "auto");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SparkTrainer.usual().train(job))
                .withMessageContaining(reason);
        assertThat(folder.resolve("refused")).isEmptyDirectory();
    }
}
