package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import org.gramian.spark.GramianModel;
import org.gramian.spark.testing.ImportedNetwork;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.spark.testing.OneMachine;
import org.gramian.spark.testing.Stripes;
import org.gramian.train.loop.Cancellation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportedBackboneTest {
    private static final int IMAGES = 18;

    @TempDir
    private Path folder = Path.of("");

    /** The weight file defines the network for training; the model file alone defines it for prediction. */
    @Test
    void executorsUseANetworkThatIsNotBuiltIn() throws IOException {
        SparkSession spark = LocalSpark.session();
        List<Path> images = Stripes.write(folder.resolve("images"), IMAGES);
        Dataset<Row> table = SmallDistributedTraining.table(spark, images, 0);
        Path network = ImportedNetwork.install(folder.resolve("weights"));
        Path run = folder.resolve("run");
        SmallDistributedTraining.Losses losses = new SmallDistributedTraining.Losses();
        SmallDistributedTraining.trainer(losses::accept, Cancellation.onRequest())
                .train(new TrainingJob(
                        table,
                        new TrainingColumns("path", "path", "label", "validation"),
                        SmallDistributedTraining.requested("center:48", 3).with("network.backbone", network.toString()),
                        run.toString(),
                        true,
                        "auto"));
        assertThat(losses.all()).hasSizeGreaterThan(3).doesNotContain(Double.NaN);
        Files.delete(network);
        Path model = run.resolve("model.safetensors");
        ModelHeader header = ModelFile.header(model);
        assertThat(header.backbone()).hasToString("small:relu_1");

        List<Row> found = GramianModel.fromFile(model.toString())
                .setInputCol("path")
                .transform(table.select("path"))
                .collectAsList();
        OneMachine.assertSame(
                found, OneMachine.predict(model, images), header.card().temperature());
    }
}
