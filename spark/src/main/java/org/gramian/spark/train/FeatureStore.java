package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
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
 * STRING}. A feature is {@code [c, h, w]} in little-endian order; shape and type stand in the metadata of its column. A picture that
 * cannot be read is one row without a feature and with the reason.
 *
 * <p>Features are appended some pictures at a time, and pictures that are there are not computed again: what is lost with a broken
 * run is the work of one append. The table belongs to one {@link Catalogue}, one backbone and one way of cropping, which its name
 * tells; a picture that is changed under its name is not noticed.
 *
 * @param path of the table
 * @param form of the features
 */
record FeatureStore(String path, FeatureForm form) {
    /** Crops of one append. */
    private static final long APPENDED = 200_000;

    /** Crops of one task: enough to fill batches, few enough to be done again. */
    private static final long OF_TASK = 2_000;

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
     * @param pictures {@code name, label, number, picture}
     * @param task what executors do
     * @param progress told how many pictures are done, after each append; may throw to stop it
     */
    void complete(Dataset<Row> pictures, FeatureTask task, Progress progress) throws IOException {
        SparkSession spark = pictures.sparkSession();
        long all = pictures.count();
        long done = 0;
        Dataset<Row> missing = pictures;
        if (exists(spark)) {
            Dataset<Row> present = rows(spark).select("number").distinct();
            done = present.count();
            missing = pictures.join(present, pictures.col("number").equalTo(present.col("number")), "left_anti");
        }
        List<Long> numbers = done == all ? List.of() : bounds(missing);
        int cores = spark.sparkContext().defaultParallelism();
        for (int i = 0; i + 1 < numbers.size(); i++) {
            progress.computed(new TrainEvent.Collecting("computing features", done, all));
            Dataset<Row> some = missing.where(
                    col("number").geq(numbers.get(i)).and(col("number").lt(numbers.get(i + 1))));
            long count = Math.min(all - done, APPENDED / form.crops() + 1);
            int tasks = Math.toIntExact(Math.max(Math.min(cores, count), count * form.crops() / OF_TASK));
            some.select("name", "label", "number", "picture")
                    .repartition(tasks)
                    .mapPartitions(task, Encoders.row(schema()))
                    .write()
                    .mode(SaveMode.Append)
                    .parquet(path);
            done = rows(spark).select("number").distinct().count();
        }
        progress.computed(new TrainEvent.Collecting("computing features", all, all));
    }

    /** Numbers between which about as many pictures are missing as one append takes. */
    private List<Long> bounds(Dataset<Row> missing) {
        long count = missing.count();
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

    private boolean exists(SparkSession spark) throws IOException {
        Path success = new Path(path, "_SUCCESS");
        return success.getFileSystem(spark.sessionState().newHadoopConf()).exists(success);
    }

    /** All rows, those without a feature included. */
    Dataset<Row> rows(SparkSession spark) {
        return spark.read().schema(schema()).parquet(path);
    }

    /** Numbers of the pictures that cannot be read, ascending. */
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
