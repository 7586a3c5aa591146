package org.gramian.spark.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.gramian.spark.testing.LocalSpark;
import org.gramian.tensor.DType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardsTest {
    private static final int CROPS = 3;
    private static final int IMAGES = 41;
    private static final long UNREADABLE = 8;
    private static final int READABLE = IMAGES - 1;
    private static final FeatureShard.Layout LAYOUT = new FeatureShard.Layout(CROPS, new long[] {1, 1, 2}, DType.F32);
    private static final Shards.Range ALL = new Shards.Range(0, IMAGES);

    @TempDir
    private static Path folder;

    private static SparkSession spark;
    private static FeatureStore store;

    @BeforeAll
    static void write() {
        spark = LocalSpark.session();
        store = new FeatureStore(folder.resolve("table").toString(), LAYOUT);
        List<Row> rows = new ArrayList<>();
        for (long image = 0; image < IMAGES; image++) {
            boolean readable = image != UNREADABLE;
            for (int crop = 0; crop < (readable ? CROPS : 1); crop++) {
                byte[] feature = readable
                        ? ByteBuffer.allocate(8).putLong(10 * image + crop).array()
                        : null;
                rows.add(RowFactory.create("p" + image, (int) image, image, crop, feature, readable ? null : "broken"));
            }
        }
        spark.createDataFrame(
                        rows,
                        StructType.fromDDL(
                                "name STRING, label INT, number BIGINT, crop INT, feature BINARY, reason STRING"))
                .repartition(4)
                .write()
                .parquet(store.path());
    }

    private static int cores() {
        return spark.sparkContext().defaultParallelism();
    }

    /** Returns the crops of each group, in the order of its shards. */
    private static List<List<FeatureShard.Crop>> groups(Shards shards, int[] wanted) {
        List<List<FeatureShard.Crop>> groups = new ArrayList<>();
        for (List<byte[]> group : shards.grouped(wanted).glom().collect()) {
            List<FeatureShard.Crop> crops = new ArrayList<>();
            for (byte[] packed : group) {
                FeatureShard shard = FeatureShard.open(packed);
                crops.addAll(shard.pick(shard.places(), LAYOUT));
            }
            groups.add(crops);
        }
        return groups;
    }

    @Test
    void shardsFormOneGroupPerCoreAndImagesAreNotSplit() {
        try (Shards shards = Shards.of(store, spark, ALL, cores(), 100)) {
            int cores = cores();
            assertThat(shards.all()).hasSizeGreaterThan(3 * cores);
            assertThat(shards.count()).isEqualTo(READABLE * CROPS);

            List<List<FeatureShard.Crop>> groups = groups(shards, shards.all());

            assertThat(groups).hasSize(cores);
            for (int group = 0; group < cores; group++) {
                int own = group;
                assertThat(groups.get(group)).allSatisfy(crop -> {
                    int image = crop.place() / CROPS;
                    assertThat(image % cores).isEqualTo(own);
                    int number = image < UNREADABLE ? image : image + 1;
                    assertThat(crop.label()).isEqualTo(number);
                    assertThat(ByteBuffer.wrap(crop.feature()).getLong())
                            .isEqualTo(10L * number + crop.place() % CROPS);
                });
            }
            assertThat(groups.stream().flatMap(List::stream).map(FeatureShard.Crop::place))
                    .containsExactlyInAnyOrderElementsOf(
                            IntStream.range(0, READABLE * CROPS).boxed().toList());
        }
    }

    @Test
    void onlyShardsWithCropsOfAStepAreRead() {
        try (Shards shards = Shards.of(store, spark, ALL, cores(), 100)) {
            int[] places = {7 * CROPS + 2, 5 * CROPS, 7 * CROPS};
            int[] holding = shards.holding(places);

            assertThat(holding).containsExactly(5, 7);
            assertThat(groups(shards, holding).stream().flatMap(List::stream).map(crop -> crop.place() / CROPS))
                    .allMatch(image -> Arrays.stream(holding).anyMatch(shard -> image % shards.all().length == shard));
            assertThat(shards.grouped(holding).getNumPartitions()).isEqualTo((int) Arrays.stream(holding)
                    .map(s -> s % shards.groups())
                    .distinct()
                    .count());
        }
    }

    @Test
    void groupsDoNotDependOnShardSize() {
        try (Shards small = Shards.of(store, spark, ALL, cores(), 100);
                Shards large = Shards.of(store, spark, ALL, cores())) {
            assertThat(large.all()).hasSize(large.groups());
            List<List<FeatureShard.Crop>> one = groups(small, small.all());
            List<List<FeatureShard.Crop>> other = groups(large, large.all());
            for (int group = 0; group < small.groups(); group++) {
                assertThat(one.get(group).stream().map(FeatureShard.Crop::place))
                        .containsExactlyInAnyOrderElementsOf(other.get(group).stream()
                                .map(FeatureShard.Crop::place)
                                .toList());
            }
        }
    }
}
