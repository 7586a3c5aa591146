package org.gramian.spark.cli;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the input: files, or a table of images. */
final class InputOptions {
    /** Column of paths if the input is files. */
    static final String PATH = "path";

    private static final String FILES = "files";

    /** Least images of a task. */
    private static final int LEAST_TASK_IMAGES = 32;

    /** Most images of a task: limits lost work, and leaves tasks for new executors. */
    private static final int MOST_TASK_IMAGES = 512;

    /** More tasks would slow down the driver; tasks get larger instead. */
    private static final int MOST_TASKS = 20_000;

    @Option(
            names = "--input",
            paramLabel = "FORMAT",
            description = {
                "files: the inputs are images, folders or glob patterns as 'photos/2024-*'; or the format of a table:",
                "parquet, orc, json, or delta if Delta is on the class path (default: parquet with --column, else"
                        + " files)"
            })
    private @Nullable String format;

    @Option(
            names = "--column",
            paramLabel = "NAME",
            description = "the column of a table that holds images, as bytes or paths (default: content)")
    private @Nullable String column;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "number of tasks (default: Spark's own for a table; for files four per core, of "
                    + LEAST_TASK_IMAGES + " to " + MOST_TASK_IMAGES + " images, and at most " + MOST_TASKS + " tasks)")
    private @Nullable Integer partitions;

    /**
     * Images as a table.
     *
     * @param rows input columns and images
     * @param column of images
     * @param kept columns of the output
     * @param files whether files were listed, so that their folders are their classes
     */
    record Images(Dataset<Row> rows, String column, List<String> kept, boolean files) {}

    /** Throws if options contradict each other. */
    void check() {
        if (partitions != null && partitions < 1) {
            throw new IllegalArgumentException("--partitions: expected at least 1, found " + partitions);
        }
        if (isFiles() && column != null) {
            throw new IllegalArgumentException(
                    "--column applies to tables: remove it, or set the table's format with --input");
        }
    }

    private boolean isFiles() {
        return format == null ? column == null : format.equals(FILES);
    }

    /**
     * Reads the table or lists the files.
     *
     * @throws IOException if places cannot be listed or are empty
     */
    Images read(SparkSession session, List<String> places, SparkApplication application) throws IOException {
        return isFiles() ? files(session, places, application) : table(session, places);
    }

    private Images files(SparkSession session, List<String> places, SparkApplication application) throws IOException {
        FileListing listing = FileListing.of(places, session.sessionState().newHadoopConf());
        listing.remarks().forEach(application::log);
        JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
        int slices = slices(listing.images().size(), spark.defaultParallelism());
        StructType schema = new StructType().add(PATH, DataTypes.StringType, false);
        return new Images(
                session.createDataFrame(
                        spark.parallelize(listing.images(), slices).map(RowFactory::create), schema),
                PATH,
                List.of(PATH),
                true);
    }

    private int slices(int images, int cores) {
        if (partitions != null) {
            return partitions;
        }
        int most = Math.max(MOST_TASK_IMAGES, Math.ceilDiv(images, MOST_TASKS));
        int each = Math.clamp(Math.ceilDiv(images, 4 * cores), LEAST_TASK_IMAGES, most);
        return Math.ceilDiv(images, each);
    }

    private Images table(SparkSession session, List<String> places) {
        Dataset<Row> rows =
                session.read().format(format == null ? "parquet" : format).load(places.toArray(String[]::new));
        Dataset<Row> partitioned = partitions == null ? rows : rows.repartition(partitions);
        String images = column == null ? "content" : column;
        return new Images(partitioned, images, withoutBytes(rows, images), false);
    }

    private static List<String> withoutBytes(Dataset<Row> rows, String images) {
        return Arrays.stream(rows.columns())
                .filter(name -> !name.equals(images)
                        || !rows.schema().apply(name).dataType().equals(DataTypes.BinaryType))
                .toList();
    }
}
