package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.PartitionCoalescer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.Tuple2;

/**
 * All features of some images, dealt out to shards by their places: image p, with all its crops, lies in shard {@code p mod
 * s}. Shards stay in the executors' memory, or on their disks where there is less; one that is lost is read again.
 *
 * <p>A shard is small, for Spark keeps or drops it as a whole; a task goes through a group of them, and there are as many groups as
 * cores. Of s shards, a multiple of the number n of groups, image p lies in group {@code p mod n}: what a group computes depends
 * neither on the number of shards nor on where they are.
 *
 * @param rdd one shard in each partition, as {@link FeatureShard} packs it
 * @param groups that all shards make
 * @param count of all crops
 * @param form of the features
 */
record Shards(JavaRDD<byte[]> rdd, int groups, int count, FeatureForm form) implements AutoCloseable {
    /** A shard is one object of Java, which Spark keeps or drops as a whole. */
    private static final long MOST_BYTES = 64L << 20;

    /**
     * Some images of a table.
     *
     * @param first number of the first one; places count from it on, without the unreadable ones
     * @param images how many numbers there are from it on
     */
    record Range(long first, long images) {}

    /**
     * Deals out the readable images of a table, at once: so that all shards of a group lie with one executor.
     *
     * @param groups how many groups they make, one for each core
     * @throws IllegalArgumentException if they have more crops than an epoch can have
     */
    static Shards of(FeatureStore store, SparkSession spark, Range range, int groups) {
        return of(store, spark, range, groups, MOST_BYTES);
    }

    /** The same with shards of about that many bytes. */
    static Shards of(FeatureStore store, SparkSession spark, Range range, int groups, long mostBytes) {
        long first = range.first;
        long[] unreadable = Arrays.stream(store.unreadable(spark))
                .filter(number -> number >= first)
                .toArray();
        FeatureForm form = store.form();
        long count = (range.images - unreadable.length) * form.crops();
        if (count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("expected at most " + Integer.MAX_VALUE + " training crops, found "
                    + count + "; use fewer crops per image");
        }
        long ofGroup = Math.max(1, Math.ceilDiv(count * form.bytes(), mostBytes * groups));
        Dealing dealing = new Dealing(Math.toIntExact(groups * ofGroup), form.crops());
        JavaRDD<byte[]> shards = store.rows(spark)
                .where(col("reason").isNull())
                .select("number", "crop", "label", "feature")
                .javaRDD()
                .mapToPair(row -> crop(row, first, unreadable, form))
                .partitionBy(dealing)
                .mapPartitions(crops -> List.of(shard(crops, form)).iterator(), true)
                .persist(StorageLevel.MEMORY_AND_DISK());
        Shards dealt = new Shards(shards, groups, (int) count, form);
        dealt.grouped(dealt.all()).count();
        return dealt;
    }

    private static Tuple2<Integer, Tuple2<Integer, byte[]>> crop(
            Row row, long first, long[] unreadable, FeatureForm form) {
        long number = row.getLong(0);
        int before = -1 - Arrays.binarySearch(unreadable, number); // of those without features
        int place = Math.toIntExact((number - first - before) * form.crops() + row.getInt(1));
        return new Tuple2<>(place, new Tuple2<>(row.getInt(2), row.<byte[]>getAs(3)));
    }

    private static byte[] shard(Iterator<Tuple2<Integer, Tuple2<Integer, byte[]>>> pairs, FeatureForm form) {
        List<FeatureShard.Crop> crops = new ArrayList<>();
        pairs.forEachRemaining(pair -> crops.add(
                new FeatureShard.Crop(pair._1(), pair._2()._1(), pair._2()._2())));
        return FeatureShard.pack(crops, form);
    }

    /** These shards, each group of them in a partition; groups without any are left out. */
    JavaRDD<byte[]> grouped(int[] shards) {
        PartitionCoalescer fixed = new FixedGroups(shards, groups);
        return rdd.rdd().coalesce(groups, false, Option.apply(fixed), null).toJavaRDD();
    }

    /** How many images they are of. */
    long images() {
        return count / form.crops();
    }

    /** All shards, ascending. */
    int[] all() {
        return IntStream.range(0, rdd.getNumPartitions()).toArray();
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
