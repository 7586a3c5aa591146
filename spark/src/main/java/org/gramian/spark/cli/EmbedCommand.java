package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.GramianFeaturizer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian spark embed}: descriptors of images, by a trained model, as a table. */
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
final class EmbedCommand implements Callable<Integer> {
    private static final String DESCRIPTOR = "descriptor";

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
        return SparkConnection.run(console, session -> {
            output.check(session, model.with(places, session), console);
            return embed(GramianFeaturizer.fromFile(model.file(session)).setDevice(device), session);
        });
    }

    private int embed(GramianFeaturizer stage, SparkSession session) throws IOException, InterruptedException {
        ImageCounters tally = new ImageCounters(results.prefix());
        InputOptions.Images images = input.read(session, places, console);
        results.check(images.rows(), List.of(DESCRIPTOR, ImageCounters.ERROR, ImageCounters.KIND));
        stage.setInputCol(images.column())
                .setOutputCol(results.name(DESCRIPTOR))
                .setErrorCol(results.name(ImageCounters.ERROR))
                .setErrorKindCol(results.name(ImageCounters.KIND));
        List<Column> columns = new ArrayList<>(ResultColumns.columns(images.kept()));
        Column descriptor = results.of(DESCRIPTOR);
        columns.add(when(descriptor.isNotNull(), vector_to_array(descriptor, "float32"))
                .as(results.name(DESCRIPTOR)));
        columns.add(results.of(ImageCounters.ERROR));
        columns.add(results.of(ImageCounters.KIND));
        return output.finish(tally, stage.transform(images.rows()).select(columns.toArray(Column[]::new)), console);
    }
}
