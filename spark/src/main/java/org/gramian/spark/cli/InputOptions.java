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

/** Options that say how places become a table of images. */
final class InputOptions {
    /** The column of paths where files are listed. */
    static final String PATH = "path";

    private static final String FILES = "files";

    /** No task is begun for fewer images. */
    private static final int FEWEST_OF_A_TASK = 32;

    /** So many at most are lost with an executor, and new executors find tasks that are left. */
    private static final int MOST_OF_A_TASK = 512;

    /** More tasks than that are work for the driver: theirs are larger then. */
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
                    + FEWEST_OF_A_TASK + " to " + MOST_OF_A_TASK + " images, and at most " + MOST_TASKS + " tasks)")
    private @Nullable Integer partitions;

    /**
     * Images as a table.
     *
     * @param rows what is kept, and the images
     * @param column of images
     * @param kept the columns that results are put beside
     */
    record Images(Dataset<Row> rows, String column, List<String> kept) {}

    /** @throws IllegalArgumentException if the options do not fit each other */
    void check() {
        if (partitions != null && partitions < 1) {
            throw new IllegalArgumentException("--partitions: expected at least 1, found " + partitions);
        }
        if (isFiles() && column != null) {
            throw new IllegalArgumentException(
                    "--column applies to tables: remove it, or set the table's format with --input");
        }
    }

    /** Whether places are files, not tables. */
    boolean isFiles() {
        return format == null ? column == null : format.equals(FILES);
    }

    /**
     * Makes the table.
     *
     * @throws IOException if places cannot be listed, or there is nothing
     */
    Images read(SparkSession session, List<String> places, Console console) throws IOException {
        return isFiles() ? files(session, places, console) : table(session, places);
    }

    private Images files(SparkSession session, List<String> places, Console console) throws IOException {
        FileListing listing = FileListing.of(places, session.sessionState().newHadoopConf());
        listing.remarks().forEach(console::say);
        JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
        int slices = slices(listing.images().size(), spark.defaultParallelism());
        StructType schema = new StructType().add(PATH, DataTypes.StringType, false);
        return new Images(
                session.createDataFrame(
                        spark.parallelize(listing.images(), slices).map(RowFactory::create), schema),
                PATH,
                List.of(PATH));
    }

    private int slices(int images, int cores) {
        if (partitions != null) {
            return partitions;
        }
        int most = Math.max(MOST_OF_A_TASK, Math.ceilDiv(images, MOST_TASKS));
        int each = Math.clamp(Math.ceilDiv(images, 4 * cores), FEWEST_OF_A_TASK, most);
        return Math.ceilDiv(images, each);
    }

    private Images table(SparkSession session, List<String> places) {
        Dataset<Row> rows =
                session.read().format(format == null ? "parquet" : format).load(places.toArray(String[]::new));
        Dataset<Row> cut = partitions == null ? rows : rows.repartition(partitions);
        String images = column == null ? "content" : column;
        return new Images(cut, images, withoutBytes(rows, images));
    }

    private static List<String> withoutBytes(Dataset<Row> rows, String images) {
        return Arrays.stream(rows.columns())
                .filter(name -> !name.equals(images)
                        || !rows.schema().apply(name).dataType().equals(DataTypes.BinaryType))
                .toList();
    }
}
