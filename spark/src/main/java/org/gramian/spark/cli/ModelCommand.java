package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.array_max;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.GramianModel;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.ModelContent;
import org.gramian.spark.executor.PartitionInspection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command that applies a trained model to images and writes a table: the columns of the input, then those of the results. */
abstract class ModelCommand extends SparkCommand {
    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "prefix of all result columns, e.g. pred_, for input tables that have columns of these names")
    private String prefix;

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "a model file written by 'gramian train', or its run folder, in any file system")
    private String model;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (searched recursively), glob patterns, or tables")
    private List<String> places;

    /** Names the output columns of the stage. */
    abstract GramianModel outputs(GramianModel stage);

    /** Returns the result columns before {@code error}, from the output of the stage. */
    abstract List<Column> columns(GramianModel stage);

    @Override
    void check() {
        device.name();
    }

    @Override
    int run(SparkSession session) throws IOException, InterruptedException {
        Configuration hadoop = session.sessionState().newHadoopConf();
        Path inRun = new Path(model, "model.safetensors");
        String file = inRun.getFileSystem(hadoop).exists(inRun) ? inRun.toString() : model;
        byte[] content = ModelContent.bytes(file, session);
        Optional<GramianModel> classifier = (takesDetectors()
                        ? ModelContent.unlessDetector(content, file)
                        : Optional.of(ModelContent.of(content, file)))
                .map(one -> outputs(GramianModel.of(one))
                        .setDevice(device.name())
                        .setErrorCol(name("error"))
                        .setErrorKindCol(name("error_kind")));
        output.check(Stream.concat(Stream.of(file), places.stream()).toList(), hadoop);
        SparkInputOptions.Images images = input.read(session, places, this::log);
        Dataset<Row> rows;
        Stream<Column> results;
        if (classifier.isPresent()) {
            rows = classifier.get().setInputCol(images.column()).transform(images.rows());
            results =
                    Stream.concat(columns(classifier.get()).stream(), Stream.of(result("error"), result("error_kind")));
        } else {
            rows = inspected(session, content, images);
            results = Stream.of(PartitionInspection.COLUMNS.fieldNames()).map(this::result);
        }
        Column[] columns = Stream.concat(images.kept().stream().map(ImageColumn::named), results)
                .toArray(Column[]::new);
        OutputOptions.Written written = output.write(rows.select(columns), name("error"), this);
        print(written.text());
        return written.failed() == 0 ? SparkMain.DONE : SparkMain.DATA;
    }

    /** Returns whether the command also takes detectors of anomalies. */
    boolean takesDetectors() {
        return false;
    }

    private Dataset<Row> inspected(SparkSession session, byte[] content, SparkInputOptions.Images images) {
        Dataset<Row> rows = images.rows();
        StructType schema = rows.schema();
        for (StructField field : PartitionInspection.COLUMNS.fields()) {
            schema = ImageColumn.appended(schema, name(field.name()), field.dataType());
        }
        PartitionInspection inspection = new PartitionInspection(
                JavaSparkContext.fromSparkContext(session.sparkContext()).broadcast(content),
                ImageColumn.of(rows.schema().fieldIndex(images.column()), session),
                device.name());
        return rows.mapPartitions(inspection, Encoders.row(schema));
    }

    final String name(String result) {
        return prefix + result;
    }

    final Column result(String result) {
        return ImageColumn.named(name(result));
    }

    /** {@code gramian spark predict}: predictions for images as a table. */
    @Command(
            name = "predict",
            header = "Classifies images with a trained model, as a table.",
            description = {
                "Writes a row for every image: path (or the columns of the input table), class, probability of",
                "that class, probabilities of all classes in the model's order, error and error_kind. An unreadable"
                        + " image",
                "is a row with an error and does not end the job; the exit code is then 3.",
                "With a detector of anomalies the columns are anomalous, score, p_value, regions, error and error_kind.",
                "Example: gramian spark predict model.safetensors photos/ --out predictions.parquet"
            })
    static final class Predict extends ModelCommand {
        @Override
        boolean takesDetectors() {
            return true;
        }

        @Override
        GramianModel outputs(GramianModel stage) {
            return stage.setPredictionCol("").setClassCol(name("class")).setProbabilityCol(name("probabilities"));
        }

        @Override
        List<Column> columns(GramianModel stage) {
            Column vector = result("probabilities");
            Column probabilities = when(vector.isNotNull(), vector_to_array(vector, "float64"));
            // Parquet keeps the metadata for Spark.
            Metadata classes = new MetadataBuilder()
                    .putStringArray("classes", stage.classes().toArray(String[]::new))
                    .build();
            return List.of(
                    result("class"),
                    array_max(probabilities).as(name("probability")),
                    probabilities.as(name("probabilities"), classes));
        }
    }

    /** {@code gramian spark embed}: descriptors of images as a table. */
    @Command(
            name = "embed",
            header = "Computes descriptors of images with a trained model, as a table.",
            description = {
                "The descriptors are the output of the model's pooling, for search, clustering or another classifier.",
                "Writes a row for every image: path (or the columns of the input table), descriptor (float[d], the",
                "mean of its crops), error and error_kind. An unreadable image is a row with an error; the exit code",
                "is then 3. Example: gramian spark embed model.safetensors photos/ --out descriptors.parquet"
            })
    static final class Embed extends ModelCommand {
        @Override
        GramianModel outputs(GramianModel stage) {
            return stage.describing(name("descriptor"));
        }

        @Override
        List<Column> columns(GramianModel stage) {
            Column descriptor = result("descriptor");
            return List.of(when(descriptor.isNotNull(), vector_to_array(descriptor, "float32"))
                    .as(name("descriptor")));
        }
    }
}
