package org.gramian.image.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;

class ShuffleTest {
    private static final List<Integer> ITEMS = IntStream.range(0, 50).boxed().toList();

    @RandomTest
    void anEpochIsAPermutationThatSeedAndNumberDecide(Seed seed) {
        List<Integer> order = Shuffle.epoch(ITEMS, seed.value(), 4);
        assertThat(order).containsExactlyInAnyOrderElementsOf(ITEMS).isEqualTo(Shuffle.epoch(ITEMS, seed.value(), 4));
        Set<List<Integer>> others = new HashSet<>();
        for (long near = -3; near <= 3; near++) {
            others.add(Shuffle.epoch(ITEMS, seed.value() + near, 4));
            others.add(Shuffle.epoch(ITEMS, seed.value(), 4 + near));
        }
        assertThat(others).hasSize(13);
    }

    @RandomTest
    void numbersAreShuffledAsAListOfThemIs(Seed seed) {
        for (int count : new int[] {0, 1, 2, ITEMS.size()}) {
            assertThat(Arrays.stream(Shuffle.epoch(count, seed.value(), 4)).boxed())
                    .isEqualTo(Shuffle.epoch(ITEMS.subList(0, count), seed.value(), 4));
        }
    }
}
