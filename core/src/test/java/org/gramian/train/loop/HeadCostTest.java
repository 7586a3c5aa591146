package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.gramian.train.loop.HeadSearch.Cost;
import org.junit.jupiter.api.Test;

final class HeadCostTest {
    private final Cost cost = new Cost(1000, 30_000, 4, 2, 1);

    @Test
    void twiceTheImagesTakeTwoFourAndEightTimesAsLong() {
        double unit = cost.fitting(1000).toNanos() / 9.0;
        assertThat(cost.fitting(2000).toNanos() / unit).isBetween(39.999, 40.001); // 2 · 4 + 4 · 2 + 8 · 3
        assertThat(cost.describing(500).multipliedBy(2)).isEqualTo(cost.describing(1000));
    }

    @Test
    void shortDescriptorsAreSolvedInProportionToTheImages() {
        Cost shorter = new Cost(1000, 100, 4, 2, 1);
        assertThat(shorter.fitting(4000)).isEqualTo(shorter.fitting(1000).multipliedBy(4));
    }

    @Test
    void mostImagesFitAndOneMoreDoesNot() {
        Duration time = Duration.ofMinutes(1);
        int most = cost.most(100_000, time);
        assertThat(cost.fitting(most)).isLessThanOrEqualTo(time);
        assertThat(cost.fitting(most + 1)).isGreaterThan(time);
        assertThat(cost.most(50, time)).isEqualTo(50);
        assertThat(cost.most(50, Duration.ofSeconds(-1))).isZero();
    }
}
