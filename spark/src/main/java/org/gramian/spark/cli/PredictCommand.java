package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.array_max;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.MetadataBuilder;
import org.gramian.spark.GramianModel;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian spark predict}: what images show, by a trained model, as a table. */
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
final class PredictCommand implements Callable<Integer> {
    private static final String UNKNOWN = "unknown";
    private static final String CLASS = "class";
    private static final String BEST = "probability";
    private static final String SCORES = "probabilities";

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final ModelOptions model = new ModelOptions();

    @Mixin
    private final InputOptions input = new InputOptions();

    @Mixin
    private final OutputOptions output = new OutputOptions();

    @Mixin
    private final ResultColumns results = new ResultColumns();

    @Option(
            names = "--reject",
            paramLabel = "P",
            defaultValue = "0",
            description = "predict 'unknown' if the probability of the class is below P, e.g. 0.6")
    private double reject;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (searched recursively), glob patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        String device = model.device();
        if (!(reject >= 0 && reject <= 1)) {
            throw new IllegalArgumentException("--reject: expected a probability between 0 and 1, found " + reject);
        }
        return SparkConnection.run(console, session -> {
            output.check(session, model.with(places, session), console);
            GramianModel stage = GramianModel.fromFile(model.file(session)).setDevice(device);
            if (reject > 0 && stage.classes().contains(UNKNOWN)) {
                throw new IllegalArgumentException("--reject predicts '" + UNKNOWN
                        + "', which is a class of this model; remove the option and filter by probability");
            }
            return predict(stage, session);
        });
    }

    private int predict(GramianModel stage, SparkSession session) throws IOException, InterruptedException {
        ImageCounters tally = new ImageCounters(results.prefix());
        InputOptions.Images images = input.read(session, places, console);
        results.check(images.rows(), List.of(CLASS, BEST, SCORES, ImageCounters.ERROR, ImageCounters.KIND));
        stage.setInputCol(images.column())
                .setPredictionCol("")
                .setClassCol(results.name(CLASS))
                .setProbabilityCol(results.name(SCORES))
                .setErrorCol(results.name(ImageCounters.ERROR))
                .setErrorKindCol(results.name(ImageCounters.KIND));
        Dataset<Row> answers = stage.transform(images.rows()).select(columns(images.kept(), stage));
        return output.finish(tally, answers, console);
    }

    private Column[] columns(List<String> kept, GramianModel stage) {
        Column vector = results.of(SCORES);
        Column scores = when(vector.isNotNull(), vector_to_array(vector, "float64"));
        Column best = array_max(scores);
        List<Column> columns = new ArrayList<>(ResultColumns.columns(kept));
        columns.add(
                when(best.lt(reject), lit(UNKNOWN)).otherwise(results.of(CLASS)).as(results.name(CLASS)));
        columns.add(best.as(results.name(BEST)));
        // Their names travel with the column; Parquet keeps them for Spark.
        columns.add(scores.as(
                results.name(SCORES),
                new MetadataBuilder()
                        .putStringArray("classes", stage.classes().toArray(String[]::new))
                        .build()));
        columns.add(results.of(ImageCounters.ERROR));
        columns.add(results.of(ImageCounters.KIND));
        return columns.toArray(Column[]::new);
    }
}
