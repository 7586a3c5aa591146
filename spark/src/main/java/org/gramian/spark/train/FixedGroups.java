package org.gramian.spark.train;

import java.io.Serializable;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.spark.Partition;
import org.apache.spark.rdd.PartitionCoalescer;
import org.apache.spark.rdd.PartitionGroup;
import org.apache.spark.rdd.RDD;
import scala.Option;

/**
 * Which shards one task goes through: shard s belongs to group {@code s mod n}, always, where Spark's own choice depends on which
 * machines hold them at the time. Shards that nobody asks for are in no group, and so are not touched.
 *
 * <p>A group says of no machine that it would like to run there: Spark then asks where its first shard is.
 */
final class FixedGroups implements PartitionCoalescer, Serializable {
    private static final long serialVersionUID = 1;

    private final int[] shards;
    private final int groups;

    /**
     * Groups some shards.
     *
     * @param shards ascending
     * @param groups how many groups all shards make
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
