package org.gramian.spark.train;

import static org.apache.spark.sql.functions.col;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.Partition;
import org.apache.spark.Partitioner;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.PartitionCoalescer;
import org.apache.spark.rdd.PartitionGroup;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.Tuple2;

/**
 * Features of images, partitioned into shards: image p, with all its crops, is in shard {@code p mod s}. Shards are cached in
 * memory or on disk of the executors; lost ones are recomputed.
 *
 * <p>A shard is small, as Spark caches or drops it as a whole; a task processes a group of shards, one group per core. As s is a
 * multiple of the number n of groups, image p is in group {@code p mod n}: the result of a group depends neither on the number of
 * shards nor on their location.
 *
 * @param rdd one shard in each partition, as {@link FeatureShard} packs it
 * @param groups number of groups
 * @param count number of crops
 * @param layout of the features
 */
record Shards(JavaRDD<byte[]> rdd, int groups, int count, FeatureShard.Layout layout) implements AutoCloseable {
    /** Target size of a shard. */
    private static final long MOST_BYTES = 64L << 20;

    /**
     * Range of images of a table.
     *
     * @param first number of the first image; places count from it, without unreadable images
     * @param images length of the range
     */
    record Range(long first, long images) {}

    /**
     * Partitions the readable images of a table eagerly, so that all shards of a group are on one executor.
     *
     * @param groups number of groups, one per core
     * @throws IllegalArgumentException if there are too many crops
     */
    static Shards of(FeatureStore store, SparkSession spark, Range range, int groups) {
        return of(store, spark, range, groups, MOST_BYTES);
    }

    /** Partitions into shards of a target size. */
    static Shards of(FeatureStore store, SparkSession spark, Range range, int groups, long mostBytes) {
        long first = range.first;
        long[] unreadable = Arrays.stream(store.unreadable(spark))
                .filter(number -> number >= first)
                .toArray();
        FeatureShard.Layout layout = store.layout();
        long count = (range.images - unreadable.length) * layout.crops();
        if (count > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("expected at most " + Integer.MAX_VALUE + " training crops, found "
                    + count + "; use fewer crops per image");
        }
        long ofGroup = Math.max(1, Math.ceilDiv(count * layout.bytes(), mostBytes * groups));
        ShardPartitioner partitioner = new ShardPartitioner(Math.toIntExact(groups * ofGroup), layout.crops());
        JavaRDD<byte[]> shards = store.rows(spark)
                .where(col("reason").isNull())
                .select("number", "crop", "label", "feature")
                .javaRDD()
                .mapToPair(row -> crop(row, first, unreadable, layout))
                .partitionBy(partitioner)
                .mapPartitions(crops -> List.of(shard(crops, layout)).iterator(), true)
                .persist(StorageLevel.MEMORY_AND_DISK());
        Shards result = new Shards(shards, groups, (int) count, layout);
        result.grouped(result.all()).count();
        return result;
    }

    private static Tuple2<Integer, Tuple2<Integer, byte[]>> crop(
            Row row, long first, long[] unreadable, FeatureShard.Layout layout) {
        long number = row.getLong(0);
        int before = -1 - Arrays.binarySearch(unreadable, number); // unreadable images before this one
        int place = Math.toIntExact((number - first - before) * layout.crops() + row.getInt(1));
        return new Tuple2<>(place, new Tuple2<>(row.getInt(2), row.<byte[]>getAs(3)));
    }

    private static byte[] shard(Iterator<Tuple2<Integer, Tuple2<Integer, byte[]>>> pairs, FeatureShard.Layout layout) {
        List<FeatureShard.Crop> crops = new ArrayList<>();
        pairs.forEachRemaining(pair -> crops.add(
                new FeatureShard.Crop(pair._1(), pair._2()._1(), pair._2()._2())));
        return FeatureShard.pack(crops, layout);
    }

    /** Returns shards with one partition per group; groups without shards are omitted. */
    JavaRDD<byte[]> grouped(int[] shards) {
        PartitionCoalescer fixed = new FixedGroups(shards, groups);
        return rdd.rdd().coalesce(groups, false, Option.apply(fixed), null).toJavaRDD();
    }

    /** Returns the number of images. */
    long images() {
        return count / layout.crops();
    }

    /** Returns all shard numbers, ascending. */
    int[] all() {
        return IntStream.range(0, rdd.getNumPartitions()).toArray();
    }

    /** Returns the shards of the crops at these places, ascending. */
    int[] holding(int[] places) {
        int shards = rdd.getNumPartitions();
        return Arrays.stream(places)
                .map(place -> place / layout.crops() % shards)
                .distinct()
                .sorted()
                .toArray();
    }

    /** Maps places to shards. */
    private static final class ShardPartitioner extends Partitioner {
        private static final long serialVersionUID = 1;

        private final int shards;
        private final int crops;

        ShardPartitioner(int shards, int crops) {
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

    /**
     * Assigns shard s to group {@code s mod n}, independent of where shards lie at the time; shards that are not requested are in no
     * group. Groups have no preferred location: Spark then uses that of their first shard.
     */
    private static final class FixedGroups implements PartitionCoalescer, Serializable {
        private static final long serialVersionUID = 1;

        private final int[] shards;
        private final int groups;

        /**
         * Groups some shards.
         *
         * @param shards ascending
         * @param groups number of groups
         */
        FixedGroups(int[] shards, int groups) {
            this.shards = shards;
            this.groups = groups;
        }

        @Override
        public PartitionGroup[] coalesce(int most, RDD<?> parent) {
            Partition[] all = parent.partitions();
            SortedMap<Integer, PartitionGroup> found = new TreeMap<>();
            for (int shard : shards) {
                found.computeIfAbsent(shard % groups, _ -> new PartitionGroup(Option.empty()))
                        .partitions()
                        .addOne(all[shard]);
            }
            return found.values().toArray(PartitionGroup[]::new);
        }
    }

    @Override
    public void close() {
        rdd.unpersist(false);
    }
}
