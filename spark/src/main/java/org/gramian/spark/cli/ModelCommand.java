package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.array_max;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.Transformer;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.gramian.spark.GramianFeaturizer;
import org.gramian.spark.GramianModel;
import org.gramian.spark.ImageParams;
import org.gramian.spark.executor.ImageColumn;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Command that applies a trained model to images and writes a table: the columns of the input, then those of the results.
 *
 * @param <S> stage of Spark
 */
abstract class ModelCommand<S extends Transformer & ImageParams<S>> extends SparkCommand {
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

    /** Creates the stage of a model file, with its output columns. */
    abstract S stage(String file) throws IOException;

    /** Returns the names of the result columns before {@code error}, without the prefix. */
    abstract List<String> results();

    /** Returns the result columns before {@code error} of the output of the stage. */
    abstract List<Column> columns(S stage);

    @Override
    void check() {
        device.name();
    }

    @Override
    int run(SparkSession session) throws IOException, InterruptedException {
        String file = modelFile(session);
        output.check(session, Stream.concat(Stream.of(file), places.stream()).toList(), this::log);
        S stage = stage(file).setDevice(device.name());
        SparkInputOptions.Images images = input.read(session, places, this::log);
        requireMissing(images.rows().columns());
        stage.setInputCol(images.column());
        List<Column> columns =
                new ArrayList<>(images.kept().stream().map(ImageColumn::named).toList());
        columns.addAll(columns(stage));
        columns.add(result(OutputOptions.ERROR));
        columns.add(result(OutputOptions.KIND));
        OutputOptions.Written written =
                output.write(stage.transform(images.rows()).select(columns.toArray(Column[]::new)), prefix, this::log);
        print(written.text());
        return written.failed() == 0 ? SparkMain.DONE : SparkMain.DATA;
    }

    /** Returns the model file: the argument, or the model in a run folder. */
    private String modelFile(SparkSession session) throws IOException {
        Path place = new Path(model);
        Path inside = new Path(place, "model.safetensors");
        FileSystem files = place.getFileSystem(session.sessionState().newHadoopConf());
        return files.exists(inside) ? inside.toString() : model;
    }

    final String name(String result) {
        return prefix + result;
    }

    final Column result(String result) {
        return ImageColumn.named(name(result));
    }

    /** Throws if a table has result columns; Spark compares names without case. */
    private void requireMissing(String[] columns) {
        TreeSet<String> taken = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        taken.addAll(Arrays.asList(columns));
        String both = Stream.concat(results().stream(), Stream.of(OutputOptions.ERROR, OutputOptions.KIND))
                .map(this::name)
                .filter(taken::contains)
                .collect(Collectors.joining(", "));
        if (!both.isEmpty()) {
            throw new IllegalArgumentException("expected an input table without the result columns, found " + both
                    + "; rename them, or use a prefix for the results, e.g. --prefix pred_");
        }
    }

    /** {@code gramian spark predict}: predictions for images as a table. */
    @Command(
            name = "predict",
            mixinStandardHelpOptions = true,
            header = "Classifies images with a trained model, as a table.",
            description = {
                "Writes a row for every image: path (or the columns of the input table), class, probability of",
                "that class, probabilities of all classes in the model's order, error and error_kind. An unreadable image",
                "is a row with an error and does not end the job; the exit code is then 3.",
                "Example: gramian spark predict model.safetensors photos/ --out predictions.parquet"
            })
    static final class Predict extends ModelCommand<GramianModel> {
        private static final String UNKNOWN = "unknown";
        private static final String CLASS = "class";
        private static final String PROBABILITY = "probability";
        private static final String PROBABILITIES = "probabilities";

        @Option(
                names = "--reject",
                paramLabel = "P",
                defaultValue = "0",
                description = "predict 'unknown' if the probability of the class is below P, e.g. 0.6")
        private double reject;

        @Override
        void check() {
            super.check();
            if (!(reject >= 0 && reject <= 1)) {
                throw new IllegalArgumentException("--reject: expected a probability between 0 and 1, found " + reject);
            }
        }

        @Override
        GramianModel stage(String file) throws IOException {
            GramianModel stage = GramianModel.fromFile(file)
                    .setPredictionCol("")
                    .setClassCol(name(CLASS))
                    .setProbabilityCol(name(PROBABILITIES))
                    .setErrorCol(name(OutputOptions.ERROR))
                    .setErrorKindCol(name(OutputOptions.KIND));
            if (reject > 0 && stage.classes().contains(UNKNOWN)) {
                throw new IllegalArgumentException("--reject predicts '" + UNKNOWN
                        + "', which is a class of this model; remove the option and filter by probability");
            }
            return stage;
        }

        @Override
        List<String> results() {
            return List.of(CLASS, PROBABILITY, PROBABILITIES);
        }

        @Override
        List<Column> columns(GramianModel stage) {
            Column vector = result(PROBABILITIES);
            Column probabilities = when(vector.isNotNull(), vector_to_array(vector, "float64"));
            Column best = array_max(probabilities);
            // Parquet keeps the metadata for Spark.
            Metadata classes = new MetadataBuilder()
                    .putStringArray("classes", stage.classes().toArray(String[]::new))
                    .build();
            return List.of(
                    when(best.lt(reject), lit(UNKNOWN)).otherwise(result(CLASS)).as(name(CLASS)),
                    best.as(name(PROBABILITY)),
                    probabilities.as(name(PROBABILITIES), classes));
        }
    }

    /** {@code gramian spark embed}: descriptors of images as a table. */
    @Command(
            name = "embed",
            mixinStandardHelpOptions = true,
            header = "Computes descriptors of images with a trained model, as a table.",
            description = {
                "The descriptors are the output of the model's pooling, for search, clustering or another classifier.",
                "Writes a row for every image: path (or the columns of the input table), descriptor (float[d], the",
                "mean of its crops), error and error_kind. An unreadable image is a row with an error; the exit code",
                "is then 3. Example: gramian spark embed model.safetensors photos/ --out descriptors.parquet"
            })
    static final class Embed extends ModelCommand<GramianFeaturizer> {
        private static final String DESCRIPTOR = "descriptor";

        @Override
        GramianFeaturizer stage(String file) throws IOException {
            return GramianFeaturizer.fromFile(file)
                    .setOutputCol(name(DESCRIPTOR))
                    .setErrorCol(name(OutputOptions.ERROR))
                    .setErrorKindCol(name(OutputOptions.KIND));
        }

        @Override
        List<String> results() {
            return List.of(DESCRIPTOR);
        }

        @Override
        List<Column> columns(GramianFeaturizer stage) {
            Column descriptor = result(DESCRIPTOR);
            return List.of(when(descriptor.isNotNull(), vector_to_array(descriptor, "float32"))
                    .as(name(DESCRIPTOR)));
        }
    }
}
