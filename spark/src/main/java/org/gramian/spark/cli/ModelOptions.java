package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Parameter and options of every command that applies a trained model: which, and where it computes. */
final class ModelOptions {
    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "a model file written by 'gramian train', or its run folder, in any file system")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String typed;

    @Mixin
    private final DeviceOption device = new DeviceOption();

    /** The file that is meant: itself, or the model in the folder of a run. */
    String file(SparkSession session) throws IOException {
        Path place = new Path(typed);
        Path inside = new Path(place, "model.safetensors");
        FileSystem files = place.getFileSystem(session.sessionState().newHadoopConf());
        return files.exists(inside) ? inside.toString() : typed;
    }

    /** All that is read: the model's file, and places. */
    List<String> with(List<String> places, SparkSession session) throws IOException {
        return Stream.concat(Stream.of(file(session)), places.stream()).toList();
    }

    String device() {
        return device.name();
    }
}
