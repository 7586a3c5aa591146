package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.count_distinct;
import static org.apache.spark.sql.functions.lit;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.gramian.train.event.TrainEvent;

/**
 * Parquet table of features, one row per crop: {@code name STRING, label INT, number BIGINT, crop INT, feature BINARY, reason
 * STRING}. A feature is {@code [c, h, w]} in little-endian order; shape and type are in the metadata of its column. An unreadable
 * image is one row with a reason instead of a feature.
 *
 * <p>Features are appended some images at a time, and stored images are not computed again: an interrupted run loses the work of
 * one append. Files of an uncommitted append are removed first, as Spark would commit them with the next one; before training, each
 * crop must be stored exactly once. The table belongs to one {@link ImageCatalog}, backbone and crop plan, by its path; an image that
 * changes under its name is not noticed.
 *
 * @param path of the table
 * @param layout of the features
 */
record FeatureStore(String path, FeatureShard.Layout layout) {
    /** Crops of one append. */
    private static final long APPEND_CROPS = 200_000;

    /** Crops of one task: enough to fill batches, few enough to repeat. */
    private static final long TASK_CROPS = 2_000;

    /** Bytes of a Parquet row group: Spark reads all of a column at once, and features have up to half a megabyte. */
    private static final long ROW_GROUP = 16L << 20;

    /** Folder of uncommitted output of tasks. */
    private static final String UNCOMMITTED = "_temporary";

    private StructType schema() {
        Metadata about = new MetadataBuilder()
                .putLongArray("shape", layout.shape())
                .putString("type", layout.type().name())
                .build();
        StructField feature = new StructField("feature", DataTypes.BinaryType, true, about);
        return StructType.fromDDL("name STRING, label INT, number BIGINT, crop INT")
                .add(feature)
                .add("reason", DataTypes.StringType, true);
    }

    /**
     * Computes missing features.
     *
     * @param numbered images, {@code name, label, number}
     * @param withImages adds the column {@code image} to some of them
     * @param task run by executors
     * @param progress receives the number of images done before each append and at the end; may throw to cancel
     * @throws IOException if the table does not have exactly one row per crop in the end
     */
    void complete(
            Dataset<Row> numbered,
            UnaryOperator<Dataset<Row>> withImages,
            FeatureTask task,
            Consumer<TrainEvent.Task> progress)
            throws IOException {
        SparkSession spark = numbered.sparkSession();
        long all = numbered.count();
        long done = 0;
        Dataset<Row> missing = numbered;
        if (!hasAppend(spark)) {
            remove(spark, new Path(path)); // may hold part of an uncommitted append
        } else {
            Dataset<Row> present = rows(spark).select("number").distinct();
            done = present.count();
            missing = numbered.join(present, numbered.col("number").equalTo(present.col("number")), "left_anti");
        }
        List<Long> numbers = done == all ? List.of() : bounds(missing, all - done);
        long each = Math.ceilDiv(all - done, Math.max(1, numbers.size() - 1)); // roughly
        for (int i = 0; i + 1 < numbers.size(); i++) {
            progress.accept(new TrainEvent.Task("computing features", done, all));
            Dataset<Row> some = missing.where(
                    col("number").geq(numbers.get(i)).and(col("number").lt(numbers.get(i + 1))));
            remove(spark, new Path(path, UNCOMMITTED));
            append(withImages
                    .apply(some)
                    .select("name", "label", "number", "image")
                    .repartition(tasks(spark, each))
                    .mapPartitions(task, Encoders.row(schema())));
            done = Math.min(all, done + each);
        }
        requireWhole(spark, all);
        progress.accept(new TrainEvent.Task("computing features", all, all));
    }

    private void append(Dataset<Row> rows) throws IOException {
        try {
            ClusterOutput.runAndAwaitTasks(
                    rows.sparkSession().sparkContext(),
                    () -> rows.write()
                            .mode(SaveMode.Append)
                            .option("mapreduce.fileoutputcommitter.marksuccessfuljobs", true)
                            .option("maxRecordsPerFile", 0) // so that a file has all crops of an image or none
                            .option("parquet.block.size", ROW_GROUP)
                            .parquet(path));
        } finally {
            remove(rows.sparkSession(), new Path(path, UNCOMMITTED));
        }
    }

    /** Counts rows by two narrow columns; features are not read. */
    private void requireWhole(SparkSession spark, long images) throws IOException {
        Row found = rows(spark)
                .agg(count(lit(1)), count_distinct(col("number"), col("crop")), count(col("reason")))
                .first();
        long unreadable = found.getLong(2);
        long expected = (images - unreadable) * layout.crops() + unreadable;
        if (found.getLong(0) < expected && ClusterOutput.mayBeLocal(spark, path)) {
            throw new IOException(path + ": expected " + expected + " rows, found " + found.getLong(0) + ": "
                    + ClusterOutput.LOCAL_DISKS);
        }
        if (found.getLong(0) != expected || found.getLong(1) != expected) {
            throw new IOException(path + ": expected " + expected + " rows, one for each crop of " + images
                    + " images, found " + found.getLong(0) + ", with " + found.getLong(1)
                    + " distinct crops; remove the folder to recompute the features");
        }
    }

    private int tasks(SparkSession spark, long images) {
        long cores = Math.min(spark.sparkContext().defaultParallelism(), images);
        return Math.toIntExact(Math.max(cores, images * layout.crops() / TASK_CROPS));
    }

    /** Returns ranges of numbers with about as many missing images as one append takes. */
    private List<Long> bounds(Dataset<Row> missing, long count) {
        int appends = Math.toIntExact(Math.ceilDiv(count * layout.crops(), APPEND_CROPS));
        double[] fractions = new double[appends - 1];
        Arrays.setAll(fractions, i -> (i + 1.0) / appends);
        double[] inner = fractions.length == 0 ? fractions : missing.stat().approxQuantile("number", fractions, 0.001);
        long[] bounds = new long[appends + 1];
        for (int i = 0; i < inner.length; i++) {
            bounds[i + 1] = (long) inner[i];
        }
        bounds[appends] = Long.MAX_VALUE;
        return Arrays.stream(bounds).distinct().boxed().toList();
    }

    /** Returns whether an append was committed. */
    private boolean hasAppend(SparkSession spark) throws IOException {
        return files(spark).exists(new Path(path, "_SUCCESS"));
    }

    private void remove(SparkSession spark, Path folder) throws IOException {
        FileSystem files = files(spark);
        if (files.exists(folder) && !files.delete(folder, true)) {
            throw new IOException(folder + ": cannot remove the files of an interrupted run; remove them by hand");
        }
    }

    private FileSystem files(SparkSession spark) throws IOException {
        return new Path(path).getFileSystem(spark.sessionState().newHadoopConf());
    }

    /** Returns all rows, including those without a feature. */
    Dataset<Row> rows(SparkSession spark) {
        return spark.read().schema(schema()).parquet(path);
    }

    /** Returns the numbers of unreadable images, ascending. */
    long[] unreadable(SparkSession spark) {
        return rows(spark)
                .where(col("reason").isNotNull())
                .select("number")
                .as(Encoders.LONG())
                .collectAsList()
                .stream()
                .mapToLong(Long::longValue)
                .sorted()
                .toArray();
    }
}
