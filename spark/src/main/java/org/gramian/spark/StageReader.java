package org.gramian.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.BiFunction;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.MLReader;
import org.gramian.spark.executor.ModelContent;

/** Loads a stage that {@link StageWriter} saved. */
final class StageReader<S extends ModelStage<S>> extends MLReader<S> {
    private final Class<S> type;
    private final BiFunction<String, ModelContent, S> maker;

    /** @param maker creates a stage from a uid and a model */
    StageReader(Class<S> type, BiFunction<String, ModelContent, S> maker) {
        this.type = type;
        this.maker = maker;
    }

    @Override
    public S load(String folder) {
        DefaultParamsReader.Metadata metadata =
                DefaultParamsReader.loadMetadata(folder, sparkSession(), type.getName());
        try {
            S stage = maker.apply(
                    metadata.uid(), ModelFiles.read(new Path(folder, StageWriter.MODEL).toString(), sparkSession()));
            metadata.getAndSetParams(stage, scala.Option.empty());
            return stage;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
