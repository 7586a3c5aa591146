package org.gramian.spark.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.Inspection;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.ImageSource;
import org.gramian.model.ImageResult;
import org.gramian.model.Prediction;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.SmallModel;
import org.gramian.spark.testing.Stripes;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SparkCommandsTest {
    private static final int IMAGES = 12;
    /** One of each kind. */
    private static final int BROKEN = 4;

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static Path model;
    private static List<Path> images;

    private record Ended(int code, String output, String errors) {}

    @BeforeAll
    static void begin() throws IOException {
        spark = LocalSpark.session();
        model = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        images = SmallModel.images(folder.resolve("images").resolve("waves"), IMAGES, BROKEN);
        Files.writeString(folder.resolve("images").resolve("notes.txt"), "no image");
    }

    private static Ended run(Object... words) {
        StringWriter output = new StringWriter();
        StringWriter errors = new StringWriter();
        CommandLine line =
                SparkMain.commandLine().setOut(new PrintWriter(output, true)).setErr(new PrintWriter(errors, true));
        int code = line.execute(Arrays.stream(words).map(Object::toString).toArray(String[]::new));
        return new Ended(code, output.toString(), errors.toString());
    }

    private static List<Row> table(Path place) {
        return spark.read().parquet(place.toString()).collectAsList();
    }

    private static void assertPredictions(List<Row> rows, Map<String, ImageResult> expected) {
        assertThat(rows).hasSameSizeAs(expected.keySet());
        for (Row row : rows) {
            switch (Objects.requireNonNull(expected.get(OneMachine.name(row.getAs("path"))))) {
                case ImageResult.Failed failed -> {
                    assertThat(row.<String>getAs("error")).isEqualTo(failed.reason());
                    assertThat(row.<String>getAs("error_kind")).isEqualTo(failed.kind());
                    assertThat(row.<Object>getAs("probabilities")).isNull();
                }
                case ImageResult.Computed computed -> {
                    Prediction prediction = computed.prediction().orElseThrow();
                    assertThat(row.<String>getAs("class")).isEqualTo(prediction.className());
                    assertThat(row.<Double>getAs("probability"))
                            .isCloseTo(prediction.best().probability(), within(1e-5));
                    assertThat(row.<Object>getAs("error")).isNull();
                }
            }
        }
    }

    @Test
    void predictWritesARowPerImageAndCountsErrors() throws IOException {
        Path out = folder.resolve("predictions");

        Ended ended = run("predict", model, folder.resolve("images"), "--out", out);

        assertThat(ended.code()).as(ended.errors()).isEqualTo(SparkMain.DATA);
        assertPredictions(table(out), OneMachine.predict(model, images));
        assertThat(ended.output()).startsWith(out + ": 12 ").containsPattern("\\b3 of ");
        assertThat(ended.errors()).containsPattern("\\b1 file\\b");
        assertThat(spark.read()
                        .parquet(out.toString())
                        .schema()
                        .apply("probabilities")
                        .metadata()
                        .getStringArray("classes"))
                .containsExactlyElementsOf(SmallModel.CLASSES);
    }

    @Test
    void predictInspectsByDetectors() throws Exception {
        Path file = folder.resolve("detector.safetensors");
        List<Path> files = SmallModel.images(folder.resolve("good"), 10, 99);
        List<ImageSource> good = files.stream().map(ImageSource::of).toList();
        try (Arena arena = Arena.ofConfined()) {
            WeightStore store = WeightStore.ofProcess();
            Backbone backbone = store.backbone("gramian-s");
            try (Detector detector = new DetectorTraining(
                            backbone,
                            store.find(backbone, "gramian-s", arena, _ -> {}),
                            Device.CPU,
                            new DetectorTraining.Options(64, 0, OptionalDouble.of(0.2), 1, 1),
                            _ -> {},
                            () -> false)
                    .train(good, List.of(), new LinkedHashMap<>())
                    .detector()) {
                detector.save(file);
            }
        }
        Path out = folder.resolve("inspected");

        Ended ended =
                run("predict", file, folder.resolve("images"), folder.resolve("good"), "--out", out, "--prefix", "d_");

        assertThat(ended.code()).as(ended.errors()).isEqualTo(SparkMain.DATA);
        assertThat(ended.output()).containsPattern("\\b3 of ");
        List<Row> rows = table(out);
        assertThat(rows).hasSize(IMAGES + files.size());
        try (Detector detector = Detector.load(file)) {
            for (Row row : rows) {
                String path = row.getAs("path");
                if (path.contains("/good/")) {
                    Inspection expected =
                            detector.inspect(folder.resolve("good").resolve(OneMachine.name(path)));
                    assertThat(row.<Double>getAs("d_score")).isCloseTo(expected.score(), within(1e-5));
                    assertThat(row.<Double>getAs("d_p_value")).isEqualTo(expected.pValue());
                    assertThat(row.<Boolean>getAs("d_anomalous")).isEqualTo(expected.isAnomalous());
                    assertThat(row.getList(row.fieldIndex("d_regions"))).hasSameSizeAs(expected.regions());
                } else if (row.<String>getAs("d_error") != null) {
                    assertThat(row.<Object>getAs("d_score")).isNull();
                }
            }
        }
        Ended embedded = run("embed", file, folder.resolve("good"), "--out", folder.resolve("none"));
        assertThat(embedded.code()).isNotEqualTo(SparkMain.DONE);
        assertThat(embedded.errors()).contains("detector");
    }

    @Test
    void patternAndTableOfBytesGiveTheSameRows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Path image : images) {
            rows.add(RowFactory.create(image.toString(), Files.readAllBytes(image), "kept"));
        }
        String table = folder.resolve("table").toString();
        spark.createDataFrame(rows, StructType.fromDDL("path STRING, `the bytes` BINARY, more STRING"))
                .coalesce(1)
                .write()
                .parquet(table);
        Path fromTable = folder.resolve("from-table");
        Path fromPattern = folder.resolve("from-pattern");

        Ended first = run("predict", model, table, "--column", "the bytes", "--out", fromTable, "--partitions", 2);
        Ended second = run("predict", model, folder + "/imag*/w*/0000[0-3].png", "--out", fromPattern);

        assertThat(first.code()).as(first.errors()).isEqualTo(SparkMain.DATA);
        assertPredictions(table(fromTable), OneMachine.predict(model, images));
        assertThat(spark.read().parquet(fromTable.toString()).columns())
                .containsExactly("path", "more", "class", "probability", "probabilities", "error", "error_kind");
        assertThat(second.code()).as(second.errors()).isEqualTo(SparkMain.DATA);
        assertThat(table(fromPattern)).hasSize(4);
    }

    @Test
    void embedWritesARowPerImage() throws IOException {
        Path out = folder.resolve("descriptors");

        Ended ended = run("embed", model, folder.resolve("images"), "--out", out, "--device", "cpu");

        assertThat(ended.code()).as(ended.errors()).isEqualTo(SparkMain.DATA);
        List<Row> rows = table(out);
        assertThat(rows).hasSize(IMAGES);
        assertThat(rows.stream().filter(row -> row.getAs("error") == null))
                .allSatisfy(row -> assertThat(row.<Float>getList(row.fieldIndex("descriptor")))
                        .hasSize(OneMachine.describe(model, images)
                                .values()
                                .iterator()
                                .next()
                                .length));
    }

    @Test
    void auditFindsUnreadableDuplicateAndFewImages() throws IOException {
        Path labelled = folder.resolve("labelled");
        SmallModel.images(labelled.resolve("a"), 8, 4);
        Path other = Files.createDirectories(labelled.resolve("b"));
        Files.copy(labelled.resolve("a/00000.png"), other.resolve("same.png"));
        Files.copy(labelled.resolve("a/00002.png"), other.resolve("same.jpg"));
        Path out = folder.resolve("facts");

        Ended ended = run("audit", labelled, "--out", out);

        assertThat(ended.code()).as(ended.errors()).isEqualTo(SparkMain.DATA);
        assertThat(ended.output())
                .containsPattern("a: 8\\D+6\\b")
                .containsPattern("b: 2\\D+2\\b")
                .containsPattern("(?m)^error +2\\b")
                .containsPattern("(?m)^error +4\\D+2\\b")
                .containsPattern("\\b2 classes\\D+10\\b");
        assertThat(table(out)).hasSize(10);
    }

    @Test
    void trainWritesAModelForPredict() throws IOException {
        Path labelled = folder.resolve("classes");
        for (String name : List.of("a", "b")) {
            SmallModel.images(labelled.resolve(name), 6, 6);
        }
        Path run = folder.resolve("run");
        Path out = folder.resolve("by-trained");

        Ended trained = run(
                "train",
                labelled,
                "--out",
                run,
                "--backbone=filters",
                "--pooling=average",
                "--crops=resize:32",
                "--classifier=mean",
                "--validation=0");

        assertThat(trained.code()).as(trained.errors()).isEqualTo(SparkMain.DATA);
        assertThat(trained.output()).containsPattern("\\b10\\b").containsPattern("\\b2\\b");
        assertThat(run("predict", run, labelled.resolve("a/00000.png"), "--out", out)
                        .code())
                .isEqualTo(SparkMain.DONE);
    }

    @Test
    void existingOutputIsKeptWithoutOverwrite() throws IOException {
        Path out = Files.createDirectories(folder.resolve("there"));
        Files.writeString(out.resolve("precious"), "kept");
        Path one = images.getFirst();

        Ended refused = run("predict", model, one, "--out", out);

        assertThat(refused.code()).isEqualTo(SparkMain.USAGE);
        assertThat(refused.errors())
                .startsWith("gramian spark predict: --out: ")
                .contains(out.toString(), "--overwrite")
                .hasLineCount(1);
        assertThat(out.resolve("precious")).exists();
        assertThat(run("predict", model, one, "--out", out, "--overwrite").code())
                .isEqualTo(SparkMain.DONE);
        assertThat(table(out)).hasSize(1);
    }

    @Test
    void folderOfTheModelIsNeverReplaced() throws IOException {
        Path run = Files.createDirectories(folder.resolve("of-model"));
        Files.copy(model, run.resolve("model.safetensors"));

        Ended refused = run("predict", run, images.getFirst(), "--out", run, "--overwrite");

        assertThat(refused.code()).as(refused.errors()).isEqualTo(SparkMain.USAGE);
        assertThat(refused.errors()).contains("--out: ", "--overwrite");
        assertThat(run.resolve("model.safetensors")).exists();
    }

    @Test
    void tableWithResultColumnsIsRejectedWithoutPrefix() throws IOException {
        String table = folder.resolve("with-classes").toString();
        Path out = folder.resolve("with-prefix");
        spark.createDataFrame(
                        List.of(RowFactory.create(images.getFirst().toString(), "waves", null)),
                        StructType.fromDDL("path STRING, Class STRING, error STRING"))
                .write()
                .parquet(table);

        Ended refused = run("predict", model, table, "--column", "path", "--out", out);
        Ended done = run("predict", model, table, "--column", "path", "--out", out, "--prefix", "the.");

        assertThat(refused.code()).isEqualTo(SparkMain.USAGE);
        assertThat(refused.output()).isEmpty();
        assertThat(refused.errors())
                .startsWith("gramian spark predict: ")
                .contains("'class'", "--prefix")
                .hasLineCount(1);
        assertThat(done.code()).as(done.errors()).isEqualTo(SparkMain.DONE);
        assertThat(spark.read().parquet(out.toString()).columns())
                .containsExactly(
                        "path",
                        "Class",
                        "error",
                        "the.class",
                        "the.probability",
                        "the.probabilities",
                        "the.error",
                        "the.error_kind");
        assertThat(table(out).getFirst().<String>getAs("the.class")).isIn(SmallModel.CLASSES);
    }

    @Test
    void trainUsesValidationColumnAndRejectsInvalidOptions() throws IOException {
        Path run = folder.resolve("validated");
        List<Row> rows = new ArrayList<>();
        for (Path image : Stripes.write(folder.resolve("stripes"), 12)) {
            int number = rows.size();
            rows.add(RowFactory.create(
                    image.toString(), SmallModel.CLASSES.get(Stripes.label(number)), number >= 9, "x" + number));
        }
        String table = folder.resolve("labelled-table").toString();
        spark.createDataFrame(rows, StructType.fromDDL("file STRING, kind STRING, validation BOOLEAN, id STRING"))
                .write()
                .parquet(table);
        List<Object> words = List.of(
                "train",
                table,
                "--column=file",
                "--label-column=kind",
                "--name-column=id",
                "--out=" + run,
                "--overwrite",
                "--backbone=filters",
                "--pooling=average",
                "--crops=resize:32",
                "--epochs=1");

        Ended trained = run(with(words, "--validation-column", "validation"));

        assertThat(trained.code()).as(trained.errors()).isEqualTo(SparkMain.DONE);
        assertThat(trained.output()).containsPattern("\\b9\\D+3\\b");
        assertThat(run(with(words, "--validation-column", "kind")).errors()).contains("'kind'", "boolean");
        assertThat(run(with(words, "--validation-column", "validation", "--validation", 0.2))
                        .errors())
                .contains("--validation-column", "--validation");
        assertThat(run(with(words, "--device", "gpu")).errors())
                .contains("--device: ", "cpu", "cuda", "cuda:<number>", "auto", "'gpu'");
    }

    private static Object[] with(List<Object> words, Object... more) {
        return Stream.concat(words.stream(), Stream.of(more)).toArray();
    }

    @Test
    void failedJobLeavesNoOutputAndReportsTheError() throws IOException {
        Path out = folder.resolve("half");

        Ended ended = run("predict", model, images.getFirst(), "--out", out, "--device", "cuda:99");

        assertThat(ended.code()).isEqualTo(SparkMain.USAGE);
        assertThat(ended.errors()).contains("'cuda:99'");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.map(path -> path.getFileName().toString())).doesNotContain("half");
        }
    }

    @Test
    void usageErrorsAreReported() {
        Path out = folder.resolve("never");
        Path missing = folder.resolve("missing");

        assertThat(run("predict", model, "--out", out).errors()).contains("PLACE");
        Ended nothing = run("predict", model, missing, "--out", out);
        assertThat(nothing.code()).isEqualTo(SparkMain.USAGE);
        assertThat(nothing.output()).isEmpty();
        assertThat(nothing.errors())
                .startsWith("gramian spark predict: " + missing + ": ")
                .hasLineCount(1);
        assertThat(run("predict", missing, folder, "--out", out).code()).isEqualTo(SparkMain.MODEL);
        Ended misspelt = run("predict", model, folder, "--out", out, "--overwrit");
        assertThat(misspelt.code()).isEqualTo(SparkMain.USAGE);
        assertThat(misspelt.output()).isEmpty();
        assertThat(misspelt.errors())
                .startsWith("gramian spark predict: ")
                .contains("'--overwrit'", "--overwrite\n", "'gramian spark predict --help'")
                .hasLineCount(3);
        assertThat(run("embed", model, folder, "--out", out, "--input", "delta").code())
                .isEqualTo(SparkMain.USAGE);
        assertThat(run("audit", folder, "--out", out, "--partitions", 0).errors())
                .containsPattern("--partitions: \\D+1\\D+0");
        assertThat(out).doesNotExist();
    }
}
