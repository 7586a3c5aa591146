package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * All features of some pictures, dealt out to shards by their places: picture p, with all its crops, lies in shard {@code p mod
 * n}. Shards stay in the executors' memory, or on their disks where there is less; one that is lost is read again.
 *
 * @param rdd one shard in each partition
 * @param count of all crops
 * @param form of the features
 */
record Shards(JavaRDD<FeatureShard> rdd, int count, FeatureForm form) implements AutoCloseable {
    /** A shard is one object of Java, which Spark keeps or drops as a whole. */
    private static final long MOST_BYTES = 64L << 20;

    /**
     * Deals out the readable pictures of a table.
     *
     * @param first number of the first picture; places count from it on, without the unreadable ones
     * @param pictures how many numbers there are from it on
     * @throws IllegalArgumentException if they have more crops than an epoch can have
     */
    static Shards of(FeatureStore store, SparkSession spark, long first, long pictures) {
        long[] unreadable = Arrays.stream(store.unreadable(spark)).filter(number -> number >= first).toArray();
        FeatureForm form = store.form();
        long count = (pictures - unreadable.length) * form.crops();
        if (count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("expected at most " + Integer.MAX_VALUE + " crops to train on, found "
                    + count + "; take fewer crops of each picture");
        }
        int cores = spark.sparkContext().defaultParallelism();
        long wanted = Math.max(cores, Math.ceilDiv(count * form.bytes(), MOST_BYTES));
        Dealing dealing = new Dealing(Math.toIntExact(wanted), form.crops());
        JavaRDD<FeatureShard> shards = store.rows(spark)
                .where(col("reason").isNull())
                .select("number", "crop", "label", "feature")
                .javaRDD()
                .mapToPair(row -> crop(row, first, unreadable, form))
                .partitionBy(dealing)
                .values()
                .mapPartitions(crops -> List.of(FeatureShard.of(crops)).iterator(), true)
                .persist(StorageLevel.MEMORY_AND_DISK());
        return new Shards(shards, (int) count, form);
    }

    private static Tuple2<Integer, FeatureShard.Crop> crop(
            Row row, long first, long[] unreadable, FeatureForm form) {
        long number = row.getLong(0);
        int before = -1 - Arrays.binarySearch(unreadable, number); // of those without features
        int place = Math.toIntExact((number - first - before) * form.crops() + row.getInt(1));
        return new Tuple2<>(place, new FeatureShard.Crop(place, row.getInt(2), row.<byte[]>getAs(3)));
    }

    /** How many pictures they are of. */
    long pictures() {
        return count / form.crops();
    }

    /** The shards that hold some of the crops at these places, ascending. */
    int[] holding(int[] places) {
        int shards = rdd.getNumPartitions();
        return Arrays.stream(places)
                .map(place -> place / form.crops() % shards)
                .distinct()
                .sorted()
                .toArray();
    }

    /** Which shard a place belongs to. */
    private static final class Dealing extends Partitioner {
        private static final long serialVersionUID = 1;

        private final int shards;
        private final int crops;

        Dealing(int shards, int crops) {
            this.shards = shards;
            this.crops = crops;
        }

        @Override
        public int numPartitions() {
            return shards;
        }

        @Override
        public int getPartition(Object place) {
            return (Integer) place / crops % shards;
        }
    }

    @Override
    public void close() {
        rdd.unpersist(false);
    }
}
