package org.gramian.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLWriter;

/** Saves a stage in the format of Spark, with the model file next to the parameters. */
final class StageWriter extends MLWriter {
    /** Name of the model file, which the command line can read. */
    static final String MODEL = "model.safetensors";

    private final ModelStage<?> stage;

    StageWriter(ModelStage<?> stage) {
        this.stage = stage;
    }

    @Override
    public void saveImpl(String folder) {
        DefaultParamsWriter.saveMetadata(stage, folder, sparkSession());
        Path file = new Path(folder, MODEL);
        try (OutputStream out = file.getFileSystem(sparkSession().sessionState().newHadoopConf())
                .create(file)) {
            out.write(stage.content().bytes());
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
