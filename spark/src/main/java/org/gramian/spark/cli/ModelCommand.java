package org.gramian.spark.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.Transformer;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.TaskResources;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Command that applies a trained model to images and writes a table: the columns of the input, then those of the results.
 *
 * @param <S> stage of Spark
 */
abstract class ModelCommand<S extends Transformer> implements Callable<Integer> {
    @Mixin
    private final SparkApplication application = new SparkApplication();

    @Mixin
    private final DeviceOption device = new DeviceOption();

    @Mixin
    private final InputOptions input = new InputOptions();

    @Mixin
    private final OutputOptions output = new OutputOptions();

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "prefix of all result columns, e.g. pred_, for input tables that have columns of these names")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String prefix;

    @Parameters(
            index = "0",
            paramLabel = "MODEL",
            description = "a model file written by 'gramian train', or its run folder, in any file system")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String model;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (searched recursively), glob patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    /** Option for the device of the executors. */
    static final class DeviceOption {
        @Option(
                names = "--device",
                paramLabel = "DEVICE",
                defaultValue = "auto",
                description = "cpu, cuda, cuda:<number>, or auto: the GPU that Spark assigned to the task, or the CPU"
                        + " without one (default: ${DEFAULT-VALUE})")
        @SuppressWarnings("NullAway.Init") // set by picocli
        private String device;

        /** Returns the name, which each executor resolves; throws if it is invalid. */
        String name() {
            TaskResources.requireDeviceName("--device", device);
            return device;
        }
    }

    /** Creates the stage of a model file. */
    abstract S stage(String file, String deviceName) throws IOException;

    /** Returns the names of the result columns before {@code error}, without the prefix. */
    abstract List<String> results();

    /** Sets the columns of the stage. */
    abstract void configure(S stage, String inputColumn);

    /** Returns the result columns before {@code error} of the output of the stage. */
    abstract List<Column> columns(S stage);

    /** Throws if other options are invalid. */
    void checkOptions() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        String deviceName = device.name();
        checkOptions();
        return application.run(session -> {
            String file = modelFile(session);
            output.check(
                    session, Stream.concat(Stream.of(file), places.stream()).toList(), application);
            return apply(stage(file, deviceName), session);
        });
    }

    private int apply(S stage, SparkSession session) throws IOException, InterruptedException {
        ImageCounters counters = new ImageCounters(prefix);
        InputOptions.Images images = input.read(session, places, application);
        List<String> names = new ArrayList<>(results());
        names.addAll(List.of(ImageCounters.ERROR, ImageCounters.KIND));
        requireMissing(names, images.rows());
        configure(stage, images.column());
        List<Column> columns =
                new ArrayList<>(images.kept().stream().map(ImageColumn::named).toList());
        columns.addAll(columns(stage));
        columns.add(result(ImageCounters.ERROR));
        columns.add(result(ImageCounters.KIND));
        return output.finish(
                counters, stage.transform(images.rows()).select(columns.toArray(Column[]::new)), application);
    }

    /** Returns the model file: the argument, or the model in a run folder. */
    private String modelFile(SparkSession session) throws IOException {
        Path place = new Path(model);
        Path inside = new Path(place, "model.safetensors");
        FileSystem files = place.getFileSystem(session.sessionState().newHadoopConf());
        return files.exists(inside) ? inside.toString() : model;
    }

    /** Returns the full name of a result column. */
    final String name(String result) {
        return prefix + result;
    }

    /** Returns a result column. */
    final Column result(String result) {
        return ImageColumn.named(name(result));
    }

    /** Throws if a table has result columns; Spark compares names without case. */
    private void requireMissing(List<String> results, Dataset<Row> table) {
        TreeSet<String> taken = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        taken.addAll(Arrays.asList(table.columns()));
        String both = results.stream().map(this::name).filter(taken::contains).collect(Collectors.joining(", "));
        if (!both.isEmpty()) {
            throw new IllegalArgumentException("expected an input table without the result columns, found " + both
                    + "; rename them, or use a prefix for the results, e.g. --prefix pred_");
        }
    }
}
