package org.gramian.spark;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.util.DefaultParamsWriter;
import org.apache.spark.ml.util.MLWriter;

/** Saves a stage as Spark saves its own, with the model's file beside the parameters. */
final class StageWriter extends MLWriter {
    /** The name of the model's file; the command line reads it as any other model. */
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
