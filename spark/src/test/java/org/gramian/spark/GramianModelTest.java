package org.gramian.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.feature.SQLTransformer;
import org.apache.spark.ml.feature.StringIndexer;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.image.ReadResult;
import org.gramian.model.ModelFileException;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.RemoteFileSystem;
import org.gramian.spark.testing.SmallModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class GramianModelTest {
    private static final int IMAGES = 14;
    private static final int BROKEN = 7;

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static Path file;
    private static List<Path> images;

    @BeforeAll
    static void begin() throws IOException {
        spark = LocalSpark.session();
        file = SmallModel.write(folder.resolve("model.safetensors"), SmallModel.SEED);
        images = SmallModel.images(folder.resolve("images"), IMAGES, BROKEN);
    }

    /** Not by Spark's binaryFile, which leaves empty files out without a word. */
    private static Dataset<Row> bytes() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Path image : images) {
            rows.add(RowFactory.create(image.toString(), Files.readAllBytes(image)));
        }
        return spark.createDataFrame(rows, StructType.fromDDL("path STRING, content BINARY"))
                .repartition(2);
    }

    private static Dataset<Row> paths() {
        return spark.createDataset(images.stream().map(Path::toString).toList(), Encoders.STRING())
                .toDF("path")
                .repartition(2);
    }

    private static void assertSameAsOnOneMachine(Dataset<Row> scored) throws IOException {
        OneMachine.assertSame(scored.collectAsList(), OneMachine.predict(file, images));
    }

    @Test
    void bytesAndPathsGiveTheResultsOfOneMachine() throws IOException {
        GramianModel model = GramianModel.fromFile(file.toString());

        assertSameAsOnOneMachine(model.transform(bytes()));
        assertSameAsOnOneMachine(model.copy(new ParamMap()).setInputCol("path").transform(paths()));
        assertThat(model.isSet(model.inputCol())).isFalse();
    }

    /** Reading a device or a pipe would not end. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void rejectsDeviceAsModel() {
        assertThatThrownBy(() -> GramianModel.fromFile("/dev/zero"))
                .isInstanceOf(ModelFileException.class)
                .hasMessageContaining("0 bytes");
    }

    @Test
    void unreadablePathIsARowWithAnError() throws IOException {
        RemoteFileSystem.in(spark.sparkContext().hadoopConfiguration());
        String missing = folder.resolve("missing.png").toString();
        List<String> paths = Arrays.asList(
                "elsewhere:" + images.getFirst(),
                "elsewhere:" + images.get(BROKEN - 1),
                "elsewhere:" + missing,
                missing,
                folder.toString(),
                "nowhere://host/image.png",
                null);

        List<String> errors = GramianModel.fromFile("elsewhere:" + file)
                .setInputCol("path")
                .transform(spark.createDataset(paths, Encoders.STRING())
                        .toDF("path")
                        .coalesce(1))
                .select("error")
                .as(Encoders.STRING())
                .collectAsList();

        assertThat(errors.getFirst()).isNull();
        assertThat(errors.subList(1, 7)).allSatisfy(error -> assertThat(error).isNotBlank());
        assertThat(errors.get(5)).contains("\"nowhere\"");
        assertThat(errors.get(6)).contains("null");
    }

    @Test
    void retriesFileSystemErrors() {
        spark.sparkContext().hadoopConfiguration().set("fs.silent.impl", Silent.class.getName());
        ImageColumn column = new ImageColumn(
                0, new SerializableConfiguration(spark.sessionState().newHadoopConf()));
        Row row = RowFactory.create("silent:/image.png");

        assertThatThrownBy(() -> column.read(row, false))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContainingAll("silent:/image.png", "503 Slow Down");
        assertThat(column.read(row, true)).isInstanceOfSatisfying(ReadResult.Unreadable.class, unreadable -> {
            assertThat(unreadable.problem()).isEqualTo(ReadResult.Problem.INACCESSIBLE);
            assertThat(unreadable.reason()).contains("503 Slow Down");
        });
    }

    /** A store that is too busy. */
    public static final class Silent extends RawLocalFileSystem {
        @Override
        public URI getUri() {
            return URI.create("silent:///");
        }

        @Override
        public FileStatus getFileStatus(org.apache.hadoop.fs.Path path) throws IOException {
            throw new IOException("503 Slow Down");
        }
    }

    @Test
    void onlyNamedColumnsAreAppended() throws IOException {
        GramianModel model = GramianModel.fromFile(file.toString())
                .describing("descriptor")
                .setClassCol("shows")
                .setErrorCol("reason");
        Dataset<Row> scored = model.transform(bytes());
        Map<String, float[]> expected = OneMachine.describe(file, images);

        assertThat(scored.columns()).containsExactly("path", "content", "shows", "descriptor", "reason");
        assertThat(model.transformSchema(bytes().schema())).isEqualTo(scored.schema());
        for (Row row : scored.collectAsList()) {
            float[] descriptor = expected.get(OneMachine.name(row.getAs("path")));
            if (descriptor == null) {
                assertThat(row.<Object>getAs("descriptor")).isNull();
            } else {
                assertThat(row.<Vector>getAs("descriptor").toArray())
                        .containsExactly(doubles(descriptor), within(1e-5));
            }
        }
    }

    private static double[] doubles(float[] values) {
        return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
    }

    @Test
    void savedPipelineWithStagesOfSparkPredictsTheSame() throws IOException {
        GramianModel featurizer = GramianModel.fromFile(file.toString()).describing("features");
        Pipeline pipeline = new Pipeline().setStages(new PipelineStage[] {
            featurizer,
            new SQLTransformer().setStatement("SELECT * FROM __THIS__ WHERE error IS NULL"),
            new StringIndexer().setInputCol("shows").setOutputCol("label"),
            new LogisticRegression().setMaxIter(3).setMaxIter(2)
        });
        // The model's own predictions are labels that its descriptors separate.
        Dataset<Row> labelled = GramianModel.fromFile(file.toString())
                .setPredictionCol("")
                .setProbabilityCol("")
                .setClassCol("shows")
                .setErrorCol("first")
                .transform(bytes())
                .cache();
        PipelineModel fitted = pipeline.fit(labelled.where("first IS NULL"));
        String saved = folder.resolve("pipeline").toString();
        fitted.write().overwrite().save(saved);
        List<Row> expected = predictions(fitted.transform(labelled));

        assertThat(predictions(PipelineModel.load(saved).transform(labelled))).isEqualTo(expected);
        assertThat(expected).hasSize(IMAGES - IMAGES / BROKEN);
    }

    private static List<Row> predictions(Dataset<Row> scored) {
        return scored.select("path", "label", "prediction", "probability")
                .orderBy("path")
                .collectAsList();
    }

    @Test
    void savedModelKeepsParametersAndFile() throws IOException {
        GramianModel model =
                GramianModel.fromFile(file.toString()).setInputCol("path").setDescriptorCol("d");
        String saved = folder.resolve("saved").toString();
        model.write().overwrite().save(saved);
        GramianModel loaded = GramianModel.load(saved);

        assertThat(loaded.uid()).isEqualTo(model.uid());
        assertThat(loaded.outputCols()).isEqualTo(model.outputCols()).contains("d");
        assertThat(loaded.getOrDefault(loaded.inputCol())).isEqualTo("path");
        assertThat(loaded.classes()).isEqualTo(SmallModel.CLASSES);
        assertThat(Path.of(saved, "model.safetensors")).hasSameBinaryContentAs(file);
    }

    @Test
    void schemaMatchesTransformSchemaAndMetadataIsKept() throws IOException {
        Dataset<Row> table = new StringIndexer()
                .setInputCol("path")
                .setOutputCol("an `index`.of")
                .fit(paths())
                .transform(paths());
        GramianModel model = GramianModel.fromFile(file.toString()).setInputCol("path");
        GramianModel featurizer =
                GramianModel.fromFile(file.toString()).setInputCol("path").describing("features");

        assertThat(model.transform(table).schema()).isEqualTo(model.transformSchema(table.schema()));
        assertThat(featurizer.transform(table).schema()).isEqualTo(featurizer.transformSchema(table.schema()));
        assertThat(model.transform(table).schema().apply(1).metadata().json()).contains("\"vals\":[");
        assertThat(model.transform(table)
                        .schema()
                        .apply("prediction")
                        .metadata()
                        .json())
                .contains(SmallModel.CLASSES.getLast());
    }

    @Test
    void duplicateColumnNamesAreKept() throws IOException {
        Dataset<Row> table = paths().selectExpr("path AS content", "1 AS same", "2 AS same");

        Dataset<Row> scored = GramianModel.fromFile(file.toString()).transform(table);

        assertThat(scored.columns()).startsWith("content", "same", "same");
        assertThat(scored.first().getInt(2)).isEqualTo(2);
    }

    @Test
    void invalidColumnsAreRejectedBeforeAnyJob() throws IOException {
        GramianModel model = GramianModel.fromFile(file.toString());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> model.transform(paths()))
                .withMessageContainingAll("'content'", "path", "setInputCol");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> model.transform(paths().selectExpr("length(path) AS content")))
                .withMessageContainingAll("'content'", "binary", "string", "int");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> model.setClassCol("Path").transform(bytes()))
                .withMessageContaining("'Path'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> model.setClassCol("prediction").transform(bytes()))
                .withMessageContaining("'prediction'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> model.setClassCol("shows").setDevice("gpu").transform(bytes()))
                .withMessageContainingAll("device", "cpu", "cuda", "cuda:<number>", "auto", "'gpu'");
    }

    @Test
    void invalidModelFileIsNamedInTheError() throws IOException {
        Path noModel = Files.writeString(folder.resolve("no.safetensors"), "nothing");

        assertThatThrownBy(() -> GramianModel.fromFile(noModel.toString()))
                .isInstanceOf(ModelFileException.class)
                .hasMessageStartingWith(noModel + ": ");
        assertThatThrownBy(() -> GramianModel.fromFile("missing.safetensors"))
                .isInstanceOf(ModelFileException.class)
                .hasMessageStartingWith("missing.safetensors: ");
        assertThatThrownBy(() -> GramianModel.fromFile("file:///missing.safetensors"))
                .isInstanceOf(ModelFileException.class)
                .hasMessageStartingWith("file:///missing.safetensors: ");
    }
}
