package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.count_distinct;
import static org.apache.spark.sql.functions.lit;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
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
import org.gramian.train.loop.TrainEvent;

/**
 * A Parquet table of features, one row for each crop: {@code name STRING, label INT, number BIGINT, crop INT, feature BINARY, reason
 * STRING}. A feature is {@code [c, h, w]} in little-endian order; shape and type stand in the metadata of its column. An image that
 * cannot be read is one row without a feature and with the reason.
 *
 * <p>Features are appended some images at a time, and images that are there are not computed again: what is lost with a broken
 * run is the work of one append. What a driver that was killed left of an append is removed first, for Spark would commit it with
 * the next one; and before anything is learned from the table, each crop must be there once. The table belongs to one {@link ImageCatalog}, one backbone and one way of cropping, which its name
 * tells; an image that is changed under its name is not noticed.
 *
 * @param path of the table
 * @param form of the features
 */
record FeatureStore(String path, FeatureForm form) {
    /** Crops of one append. */
    private static final long APPENDED = 200_000;

    /** Crops of one task: enough to fill batches, few enough to be done again. */
    private static final long OF_TASK = 2_000;

    /** Bytes of rows that are read together: Spark holds all of a column's at once, of features of half a megabyte each. */
    private static final long ROW_GROUP = 16L << 20;

    /** Where Spark's committer keeps what tasks wrote until all are done: it then takes all that lies there. */
    private static final String UNCOMMITTED = "_temporary";

    /** What is computed by executors. */
    interface Progress {
        void computed(TrainEvent.Collecting event);
    }

    private StructType schema() {
        Metadata about = new MetadataBuilder()
                .putLongArray("shape", form.shape())
                .putString("type", form.type().name())
                .build();
        StructField feature = new StructField("feature", DataTypes.BinaryType, true, about);
        return StructType.fromDDL("name STRING, label INT, number BIGINT, crop INT")
                .add(feature)
                .add("reason", DataTypes.StringType, true);
    }

    /**
     * Computes what is missing.
     *
     * @param numbered images, {@code name, label, number}
     * @param seen some of them with their column {@code image}
     * @param task what executors do
     * @param progress receives the number of images done after each append; may throw to cancel
     * @throws IOException if the table holds other rows than one for each crop in the end
     */
    void complete(Dataset<Row> numbered, UnaryOperator<Dataset<Row>> seen, FeatureTask task, Progress progress)
            throws IOException {
        SparkSession spark = numbered.sparkSession();
        long all = numbered.count();
        long done = 0;
        Dataset<Row> missing = numbered;
        if (!isBegun(spark)) {
            remove(spark, new Path(path)); // part of an append, perhaps: nothing tells which images it has whole
        } else {
            Dataset<Row> present = rows(spark).select("number").distinct();
            done = present.count();
            missing = numbered.join(present, numbered.col("number").equalTo(present.col("number")), "left_anti");
        }
        List<Long> numbers = done == all ? List.of() : bounds(missing, all - done);
        long each = Math.ceilDiv(all - done, Math.max(1, numbers.size() - 1)); // roughly
        for (int i = 0; i + 1 < numbers.size(); i++) {
            progress.computed(new TrainEvent.Collecting("computing features", done, all));
            Dataset<Row> some = missing.where(
                    col("number").geq(numbers.get(i)).and(col("number").lt(numbers.get(i + 1))));
            remove(spark, new Path(path, UNCOMMITTED));
            append(seen.apply(some)
                    .select("name", "label", "number", "picture")
                    .repartition(tasks(spark, each))
                    .mapPartitions(task, Encoders.row(schema())));
            done = Math.min(all, done + each);
        }
        requireWhole(spark, all);
        progress.computed(new TrainEvent.Collecting("computing features", all, all));
    }

    private void append(Dataset<Row> rows) throws IOException {
        try {
            LateTasks.outlived(
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

    /** Counts by two narrow columns: features are not read. */
    private void requireWhole(SparkSession spark, long images) throws IOException {
        Row found = rows(spark)
                .agg(count(lit(1)), count_distinct(col("number"), col("crop")), count(col("reason")))
                .first();
        long unreadable = found.getLong(2);
        long expected = (images - unreadable) * form.crops() + unreadable;
        if (found.getLong(0) < expected && LocalPathCheck.isDoubtful(spark, path)) {
            throw new IOException(
                    path + ": expected " + expected + " rows, found " + found.getLong(0) + ": " + LocalPathCheck.WHY);
        }
        if (found.getLong(0) != expected || found.getLong(1) != expected) {
            throw new IOException(path + ": expected " + expected + " rows, one for each crop of " + images
                    + " images, found " + found.getLong(0) + ", with " + found.getLong(1)
                    + " distinct crops; remove the folder to recompute the features");
        }
    }

    private int tasks(SparkSession spark, long images) {
        long cores = Math.min(spark.sparkContext().defaultParallelism(), images);
        return Math.toIntExact(Math.max(cores, images * form.crops() / OF_TASK));
    }

    /** Numbers between which about as many images are missing as one append takes. */
    private List<Long> bounds(Dataset<Row> missing, long count) {
        int appends = Math.toIntExact(Math.ceilDiv(count * form.crops(), APPENDED));
        double[] shares = new double[appends - 1];
        Arrays.setAll(shares, i -> (i + 1.0) / appends);
        double[] inner = shares.length == 0 ? shares : missing.stat().approxQuantile("number", shares, 0.001);
        long[] bounds = new long[appends + 1];
        for (int i = 0; i < inner.length; i++) {
            bounds[i + 1] = (long) inner[i];
        }
        bounds[appends] = Long.MAX_VALUE;
        return Arrays.stream(bounds).distinct().boxed().toList();
    }

    /** Whether an append came to its end. */
    private boolean isBegun(SparkSession spark) throws IOException {
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

    /** Numbers of the images that cannot be read, ascending. */
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
