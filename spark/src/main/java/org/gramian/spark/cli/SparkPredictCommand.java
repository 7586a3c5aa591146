package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.array_max;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.gramian.spark.GramianModel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

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
final class SparkPredictCommand extends ModelCommand<GramianModel> {
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
    void checkOptions() {
        if (!(reject >= 0 && reject <= 1)) {
            throw new IllegalArgumentException("--reject: expected a probability between 0 and 1, found " + reject);
        }
    }

    @Override
    GramianModel stage(String file, String deviceName) throws IOException {
        GramianModel stage = GramianModel.fromFile(file).setDevice(deviceName);
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
    void configure(GramianModel stage, String inputColumn) {
        stage.setInputCol(inputColumn)
                .setPredictionCol("")
                .setClassCol(name(CLASS))
                .setProbabilityCol(name(PROBABILITIES))
                .setErrorCol(name(ImageCounters.ERROR))
                .setErrorKindCol(name(ImageCounters.KIND));
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
