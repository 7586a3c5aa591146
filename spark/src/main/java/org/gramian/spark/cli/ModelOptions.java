package org.gramian.spark.cli;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Parameter and options of every command that applies a trained model: which, and where it computes. */
final class ModelOptions {
    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "a model file that 'gramian train' wrote, or its run's folder, in any file system")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String typed;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            defaultValue = "auto",
            description = "cpu, cuda, cuda:<number>, or auto: the GPU that Spark gave the task, the processor where it"
                    + " gave none (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String device;

    /** The file that is meant: itself, or the model in the folder of a run. */
    String file(SparkSession session) throws IOException {
        Path place = new Path(typed);
        Path inside = new Path(place, "model.safetensors");
        FileSystem files = place.getFileSystem(session.sessionState().newHadoopConf());
        return files.exists(inside) ? inside.toString() : typed;
    }

    String device() {
        if (!device.matches("auto|cpu|cuda(:\\d+)?")) {
            throw new IllegalArgumentException(
                    "--device: expected cpu, cuda, cuda:<number> or auto, found '" + device + "'");
        }
        return device;
    }
}
