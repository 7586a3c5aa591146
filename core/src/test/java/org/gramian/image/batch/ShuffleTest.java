package org.gramian.image.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;

class ShuffleTest {
    private static List<Integer> epoch(long seed, long epoch) {
        return Arrays.stream(Shuffle.epoch(50, seed, epoch)).boxed().toList();
    }

    @RandomTest
    void orderIsPermutationOfSeedAndEpoch(Seed seed) {
        List<Integer> ordered = new ArrayList<>(IntStream.range(0, 50).boxed().toList());
        List<Integer> order = epoch(seed.value(), 4);
        assertThat(order).containsExactlyInAnyOrderElementsOf(ordered).isEqualTo(epoch(seed.value(), 4));
        Set<List<Integer>> others = new HashSet<>();
        for (long near = -3; near <= 3; near++) {
            others.add(epoch(seed.value() + near, 4));
            others.add(epoch(seed.value(), 4 + near));
        }
        assertThat(others).hasSize(13);
        long key = new SplittableRandom(seed.value()).nextLong() ^ new SplittableRandom(~4L).nextLong();
        Collections.shuffle(ordered, new SplittableRandom(key));
        assertThat(order).isEqualTo(ordered);
    }
}
