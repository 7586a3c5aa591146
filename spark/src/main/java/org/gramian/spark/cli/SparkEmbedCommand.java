package org.gramian.spark.cli;

import static org.apache.spark.ml.functions.vector_to_array;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.Column;
import org.gramian.spark.GramianFeaturizer;
import picocli.CommandLine.Command;

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
final class SparkEmbedCommand extends ModelCommand<GramianFeaturizer> {
    private static final String DESCRIPTOR = "descriptor";

    @Override
    GramianFeaturizer stage(String file, String deviceName) throws IOException {
        return GramianFeaturizer.fromFile(file).setDevice(deviceName);
    }

    @Override
    List<String> results() {
        return List.of(DESCRIPTOR);
    }

    @Override
    void configure(GramianFeaturizer stage, String inputColumn) {
        stage.setInputCol(inputColumn)
                .setOutputCol(name(DESCRIPTOR))
                .setErrorCol(name(ImageCounters.ERROR))
                .setErrorKindCol(name(ImageCounters.KIND));
    }

    @Override
    List<Column> columns(GramianFeaturizer stage) {
        Column descriptor = result(DESCRIPTOR);
        return List.of(when(descriptor.isNotNull(), vector_to_array(descriptor, "float32"))
                .as(name(DESCRIPTOR)));
    }
}
