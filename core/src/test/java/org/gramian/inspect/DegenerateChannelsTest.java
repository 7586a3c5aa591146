package org.gramian.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class DegenerateChannelsTest {
    private static final int CHANNELS = 6;
    private static final int POSITIONS = 9;

    /** Random maps, of which channel 1 is constant, and channel 4 is −2 times channel 2 plus something of its image. */
    private static double[] maps(SplittableRandom random, int images) {
        double[] all = new double[images * CHANNELS * POSITIONS];
        for (int i = 0; i < all.length; i++) {
            int channel = i / POSITIONS % CHANNELS;
            int image = i / POSITIONS / CHANNELS;
            all[i] = switch (channel) {
                case 1 -> 0.2f;
                case 4 -> -2 * all[i - 2 * POSITIONS] + 100 * image;
                default -> random.nextGaussian();
            };
        }
        return all;
    }

    private static DegenerateChannels judged(double[] maps, int batch) {
        DegenerateChannels.Accumulator sums = new DegenerateChannels.Accumulator();
        int each = CHANNELS * POSITIONS;
        try (Scope _ = Scope.open()) {
            for (int start = 0; start < maps.length; start += batch * each) {
                double[] some = Arrays.copyOfRange(maps, start, Math.min(maps.length, start + batch * each));
                sums.add(Tensors.of(some, Shape.of(some.length / each, CHANNELS, POSITIONS), DType.F32));
            }
        }
        return sums.result();
    }

    @RandomTest(times = 5)
    void deadAndDuplicateChannelsAreNamedHoweverTheyCome(Seed seed) {
        double[] maps = maps(seed.random(), 7);
        for (int batch : new int[] {1, 3, 7}) {
            DegenerateChannels found = judged(maps, batch);
            assertThat(found.channels()).isEqualTo(CHANNELS);
            assertThat(found.positions()).isEqualTo(POSITIONS);
            assertThat(found.images()).isEqualTo(7);
            assertThat(found.dead()).containsExactly(1);
            assertThat(found.duplicates()).singleElement().satisfies(one -> {
                assertThat(one.channel()).isEqualTo(4);
                assertThat(one.of()).isEqualTo(2);
                assertThat(one.correlation()).isLessThan(-0.999999);
            });
        }
    }

    @Test
    void aChannelThatLivesInTwoOfTenImagesIsNotDead() {
        double[] maps = maps(new SplittableRandom(2), 10);
        for (int image : new int[] {3, 8}) {
            maps[(image * CHANNELS + 1) * POSITIONS] = 1;
        }
        assertThat(judged(maps, 4).dead()).isEmpty();
    }

    @Test
    void mapsOfZerosAreAllDeadAndNoDuplicates() {
        DegenerateChannels found = judged(new double[2 * CHANNELS * POSITIONS], 2);
        assertThat(found.dead()).hasSize(CHANNELS);
        assertThat(found.duplicates()).isEmpty();
    }
}
