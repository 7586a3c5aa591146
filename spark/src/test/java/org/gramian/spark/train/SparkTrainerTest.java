package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.StructType;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.run.InitialModel;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureExtractor;
import org.gramian.train.feature.FrozenBackbone;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingData;
import org.gramian.train.loop.TwoStageTraining;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparkTrainerTest {
    private static final LabelledImages.Columns COLUMNS =
            new LabelledImages.Columns("path", "path", "label", "validation");
    private static final int UNREADABLE = 7;

    @TempDir
    private static Path folder;

    private static List<Path> images;
    private static Dataset<Row> table;

    @BeforeAll
    static void write() throws IOException {
        SparkSession spark = LocalSpark.session();
        images = Stripes.write(folder.resolve("images"), 36);
        Files.writeString(images.get(UNREADABLE), "no image");
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            rows.add(RowFactory.create(
                    images.get(i).toString(), SmallModel.CLASSES.get(Stripes.label(i)), isValidation(i)));
        }
        table = spark.createDataFrame(rows, StructType.fromDDL("path STRING, label STRING, validation BOOLEAN"))
                .repartition(3)
                .cache();
    }

    private static boolean isValidation(int image) {
        return image % 5 == 4;
    }

    private static Settings requested(String... pairs) {
        Settings settings = Settings.NONE
                .with("network.backbone", "filters")
                .with("network.pooling", "pca:4/bilinear/triu")
                .with("optimizer.batch", "8")
                .with("data.crops", "paper:48");
        for (int i = 0; i < pairs.length; i += 2) {
            settings = settings.with(pairs[i], pairs[i + 1]);
        }
        return settings;
    }

    private static SparkTrainer.Outcome train(Dataset<Row> rows, Settings requested, Path file) throws IOException {
        return SparkTrainer.train(rows, COLUMNS, requested, TrainingContext.of(Device.CPU), "auto", file);
    }

    /** Trains on one machine and returns the parameters of the head. */
    private static double[] onOneMachine(Settings settings) throws IOException {
        RunConfig config = RunConfig.of(settings);
        List<Sample> training = new ArrayList<>();
        List<Sample> validation = new ArrayList<>();
        for (int i = 0; i < images.size(); i++) {
            if (i != UNREADABLE) {
                (isValidation(i) ? validation : training)
                        .add(new Sample(images.get(i).toString(), Stripes.label(i), images.get(i)));
            }
        }
        try (FrozenBackbone network =
                        InitialModel.network(config.network(), WeightStore.ofProcess(), Device.CPU, _ -> {});
                Model model = InitialModel.model(
                        config.network().head(SmallModel.CLASSES.size(), training.size()),
                        config.recipe().seed(),
                        network);
                FeatureCache cache = FeatureCache.open(Optional.empty(), folder, _ -> {})) {
            FeatureExtractor extractor =
                    new FeatureExtractor(network, FeatureExtractor.DEFAULT_BATCH, config.get(TrainConfig.FEATURE_TYPE));
            TrainingData data = new TrainingData(
                    // without them a solver has no last fit on both, as on Spark
                    new TrainingData.Parts(
                            training, config.recipe().solver().isPresent() ? List.of() : validation, List.of()),
                    config.trainingCrops(),
                    config.testPlan().testing(),
                    new FeatureExtraction(extractor, Optional.of(cache)),
                    Map.of(),
                    Optional.empty());
            new TwoStageTraining(model, config.recipe(), data, TrainingContext.of(Device.CPU)).run((_, _) -> {});
            return head(model);
        }
    }

    private static double[] head(Model model) {
        return model.headParameters().all().stream()
                .flatMapToDouble(parameter -> Arrays.stream(parameter.value().toDoubles()))
                .toArray();
    }

    @Test
    void headTrainedOnCollectedFeaturesEqualsOneMachine() throws IOException {
        Path file = folder.resolve("trained.safetensors");

        SparkTrainer.Outcome trained = train(table, requested("stage1.epochs", "3"), file);

        assertThat(List.of(trained.training(), trained.validation(), trained.unreadable()))
                .containsExactly(28L, 7L, 1L);
        ModelFile.Stored stored = ModelFile.read(file, Device.CPU);
        try (Model model = stored.model()) {
            assertThat(head(model)).containsExactly(onOneMachine(trained.settings()), within(1e-5));
        }
        ModelCard card = stored.card();
        assertThat(card.classes()).isEqualTo(SmallModel.CLASSES);
        assertThat(card.metrics()).containsKey("validation-accuracy");
        assertThat(card.origin()).containsKeys("images", "seed").doesNotContainKey("config.data.protocol");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lda", "mean"})
    void classifierOfSummedStatisticsEqualsOneMachineUpToScale(String classifier) throws IOException {
        Settings requested = requested("network.classifier", classifier).with("network.pooling", "covariance/triu");
        Path file = folder.resolve(classifier + ".safetensors");

        SparkTrainer.Outcome trained = train(table, requested, file);

        assertThat(List.of(trained.training(), trained.unreadable())).containsExactly(28L, 1L);
        try (Model model = ModelFile.read(file, Device.CPU).model()) {
            double[] here = head(model);
            double[] there = onOneMachine(trained.settings());
            // one machine divides weights by the temperature of a cross-validation; nearest means get a scale for each
            // class too
            double apart = classifier.equals("lda")
                    ? distance(normalized(here), normalized(there))
                    : distance(directions(aboutMean(here)), directions(there));
            assertThat(apart).isLessThan(1e-3);
        }
        if (classifier.equals("lda")) {
            Path again = folder.resolve("again.safetensors");
            train(table, requested, again);
            assertThat(again).hasSameBinaryContentAs(file);
        }
    }

    private static double distance(double[] one, double[] other) {
        return Math.sqrt(IntStream.range(0, one.length)
                .mapToDouble(i -> (one[i] - other[i]) * (one[i] - other[i]))
                .sum());
    }

    /** Weights about the mean of all classes, which scales of classes are multiplied with; the biases, which follow, stay. */
    private static double[] aboutMean(double[] head) {
        int classes = SmallModel.CLASSES.size();
        int size = head.length / classes - 1;
        double[] centred = head.clone();
        for (int i = 0; i < classes * size; i++) {
            for (int other = 0; other < classes; other++) {
                centred[i] -= head[other * size + i % size] / classes;
            }
        }
        return centred;
    }

    /** Weights of each class up to their length, without the biases. */
    private static double[] directions(double[] head) {
        int classes = SmallModel.CLASSES.size();
        int size = head.length / classes - 1;
        return IntStream.range(0, classes)
                .mapToObj(label -> normalized(Arrays.copyOfRange(head, label * size, (label + 1) * size)))
                .flatMapToDouble(Arrays::stream)
                .toArray();
    }

    private static double[] normalized(double[] values) {
        double length = Math.sqrt(Arrays.stream(values).map(x -> x * x).sum());
        return Arrays.stream(values).map(x -> x / length).toArray();
    }

    @Test
    void featuresBeyondTheHeapAreRefusedWithAdvice() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SparkTrainer.requireRoom(100_000, 65L << 30, 1L << 30))
                .withMessageContainingAll("100,000", "65.0 GiB", "1.0 GiB", "lda", "--driver-memory");
        SparkTrainer.requireRoom(1_000, 1L << 30, 1L << 30);
    }

    @Test
    void validationSplitDependsOnNamesAndSeedOnly() {
        LabelledImages all = LabelledImages.of(table, new LabelledImages.Columns("path", "path", "label", ""));
        LabelledImages reordered =
                new LabelledImages(all.rows().repartition(5).where("label < 2"), all.classes(), all.count());

        List<Row> some = validation(reordered.split(0.5, 3));
        assertThat(some).isNotEmpty().hasSizeLessThan(24);
        assertThat(validation(all.split(0.5, 3))).containsAll(some);
        assertThat(validation(all.split(0.5, 4))).isNotEqualTo(validation(all.split(0.5, 3)));
        assertThat(validation(all.split(0, 3))).isEmpty();
    }

    private static List<Row> validation(LabelledImages split) {
        return split.part(true).select("name").orderBy("name").collectAsList();
    }

    @Test
    void invalidTableOrSettingIsRejected() {
        Settings softmax = requested("stage1.epochs", "1");
        assertRejected(table.union(table), softmax, "twice");
        assertRejected(table.drop("label"), softmax, "'label'", "path, validation");
        assertRejected(table.where("label = 'glass'"), softmax, "2 classes", "1");
        assertRejected(label("IF(label = 'glass', NULL, label)"), softmax, "'label'", "null");
        assertRejected(label("IF(label = 'glass', 3, 0)"), softmax, "'1'");
        assertRejected(label("0.5"), softmax, "whole numbers");
        assertRejected(label("IF(path LIKE '%00007%', 'broken', label)"), softmax, "'broken'");
        assertRejected(table.withColumn("validation", functions.expr("label = 'glass'")), softmax, "'glass'", "12");
        assertRejected(table, requested("stage2.epochs", "2"), "stage2.epochs", "2");
    }

    private static Dataset<Row> label(String expression) {
        return table.withColumn("label", functions.expr(expression));
    }

    private static void assertRejected(Dataset<Row> rows, Settings requested, String... facts) {
        Path file = folder.resolve("never.safetensors");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> train(rows, requested, file))
                .withMessageContainingAll(facts);
        assertThat(file).doesNotExist();
    }
}
