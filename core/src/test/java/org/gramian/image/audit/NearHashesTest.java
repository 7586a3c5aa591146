package org.gramian.image.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class NearHashesTest {
    /** Some hashes, and others that differ from them in up to ten bits. */
    private static long[] hashes(SplittableRandom random, int count) {
        long[] hashes = random.longs(count).toArray();
        for (int i = count / 4; i < count; i++) {
            hashes[i] = hashes[random.nextInt(i)];
            for (int flips = random.nextInt(11); flips > 0; flips--) {
                hashes[i] ^= 1L << random.nextInt(64);
            }
        }
        return hashes;
    }

    @RandomTest
    void findsAllPairsWithinDistance(Seed seed) {
        SplittableRandom random = seed.random();
        long[] hashes = hashes(random, 200);
        int distance = random.nextInt(8);
        TreeSet<String> wanted = new TreeSet<>();
        for (int j = 0; j < hashes.length; j++) {
            for (int i = 0; i < j; i++) {
                if (Long.bitCount(hashes[i] ^ hashes[j]) <= distance) {
                    wanted.add(i + " " + j);
                }
            }
        }
        TreeSet<String> found = new TreeSet<>();
        new DuplicateSearch.NearHashes(hashes, distance)
                .forEach((i, j) ->
                        assertThat(found.add(i + " " + j)).as("found once").isTrue());
        assertThat(found).isEqualTo(wanted);
    }

    @Test
    @Timeout(60) // at full size each with each would be 80 thousand million comparisons
    void manyHashesTakeSeconds() {
        int count = Boolean.getBoolean("gramian.full") ? 400_000 : 100_000;
        long[] hashes = new SplittableRandom(1).longs(count).toArray();
        hashes[count - 1] = hashes[0] ^ 0b1110_1111;
        TreeSet<String> found = new TreeSet<>();
        new DuplicateSearch.NearHashes(hashes, 7).forEach((i, j) -> found.add(i + " " + j));
        assertThat(found).contains("0 " + (count - 1));
    }
}
