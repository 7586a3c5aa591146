package org.gramian.spark.testing;

import java.io.IOException;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.sql.SparkSession;

/** A program for {@code spark-submit}: loads a pipeline, applies it to a table of paths, writes what it says. */
public final class LoadedPipeline {
    private LoadedPipeline() {}

    /**
     * Runs it.
     *
     * @param arguments the saved pipeline, the table that is read and the one that is written, both Parquet
     */
    public static void main(String[] arguments) throws IOException {
        try (SparkSession spark = SparkSession.builder().getOrCreate()) {
            PipelineModel.load(arguments[0])
                    .transform(spark.read().parquet(arguments[1]))
                    .write()
                    .parquet(arguments[2]);
        }
    }
}
