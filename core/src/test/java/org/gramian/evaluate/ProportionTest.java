package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.SplittableRandom;
import org.gramian.evaluate.Proportion.Interval;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class ProportionTest {
    @RandomTest(times = 100)
    void intervalContainsItsEstimateWithinZeroAndOne(Seed seed) {
        SplittableRandom random = seed.random();
        int count = random.nextInt(1, 2000);
        for (int right : new int[] {0, 1, random.nextInt(count + 1), count - 1, count}) {
            Proportion proportion = new Proportion(Math.min(right, count), count);
            Interval interval = proportion.interval();
            assertThat(interval.contains(proportion.value())).isTrue();
            assertThat(interval.low()).isNotNegative();
            assertThat(interval.high()).isLessThanOrEqualTo(1);
            assertThat(interval.width()).isPositive();
        }
    }

    /** Its definition: the ends are the proportions whose score test just rejects what was seen. */
    @RandomTest
    void endsSatisfyTheScoreEquation(Seed seed) {
        SplittableRandom random = seed.random();
        int count = random.nextInt(2, 500);
        int right = random.nextInt(1, count);
        Interval interval = new Proportion(right, count).interval();
        for (double end : new double[] {interval.low(), interval.high()}) {
            double deviation = Math.sqrt(end * (1 - end) / count);
            assertThat(Math.abs(end - (double) right / count) / deviation).isCloseTo(1.959963984540054, within(1e-9));
        }
    }

    @Test
    void invalidProportionsAreRefused() {
        for (int[] wrong : new int[][] {{0, 0}, {-1, 3}, {4, 3}}) {
            assertRejected(() -> new Proportion(wrong[0], wrong[1]), wrong[0], wrong[1]);
        }
    }
}
