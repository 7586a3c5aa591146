package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import org.gramian.run.config.ConfigException;
import org.junit.jupiter.api.Test;

class MemoryEstimateTest {
    private static final long GB = 1_000_000_000;

    private static MemoryEstimate trained(boolean gpu) {
        return new MemoryEstimate(GB, 2 * GB, 5 * GB, 0, 3 * GB, gpu);
    }

    @Test
    void theLargestPhaseCountsOnTheDeviceOfTheModel() {
        assertThat(trained(false).device()).isZero();
        assertThat(trained(false).host()).isBetween(6 * GB, 7 * GB);
        assertThat(trained(true).device()).isEqualTo(5 * GB);
        assertThat(trained(true).host()).isBetween(GB, 2 * GB);
    }

    @Test
    void tooLargeRunsAreRefusedOrWarnedOf() {
        assertThat(trained(false).requireFits(8 * GB, Long.MAX_VALUE)).isEmpty();
        assertThat(trained(false).requireFits(4 * GB, Long.MAX_VALUE))
                .hasValueSatisfying(text -> assertThat(text).has(facts("4.0 GB", "--batch")));
        assertThatThrownBy(() -> trained(false).requireFits(2 * GB, Long.MAX_VALUE))
                .isInstanceOf(ConfigException.class)
                .has(facts("3.0 GB", "2.0 GB"));
        assertThat(trained(true).requireFits(4 * GB, 6 * GB)).isEmpty();
        assertThatThrownBy(() -> trained(true).requireFits(64 * GB, 2 * GB)).has(facts("2.0 GB", "GPU"));
        MemoryEstimate solved = new MemoryEstimate(GB, GB, 0, 9 * GB, 9 * GB, false);
        assertThatThrownBy(() -> solved.requireFits(8 * GB, Long.MAX_VALUE)).has(facts("8.0 GB", "pca:64"));
    }
}
