package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.pooling.Pooling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadRateTest {
    @ParameterizedTest
    @CsvSource({
        "fisher:4/root/l2, 1, false",
        "fisher:4/root/l2/pca:most, 1, false",
        "fisher:4/root, 1, true",
        "average/pca:3, 1, true",
        "average/l2/root, 1, true",
        "average, 1, true",
        "netvlad:4/l2, 0.1, false",
        "conv:8/deepten:4/l2, 0.1, false",
        "[average+netvlad:4]/l2, 0.1, false",
        "deepten:4, 0.1, true",
        "vlad:4/l2, 1, false"
    })
    void rateDependsOnNormAndTrainedCodewords(String pooling, double rate, boolean perLength) {
        Settings settings = HeadRate.choose(Settings.NONE, Pooling.parse(pooling));
        assertThat(settings.get(Keys.STAGE1_RATE)).isEqualTo(rate);
        assertThat(settings.get(Keys.PER_LENGTH)).isEqualTo(perLength);
    }

    @Test
    void givenRateIsNotDividedByTheNorm() {
        Settings settings = HeadRate.choose(Settings.NONE.with(Keys.STAGE1_RATE, 0.01), Pooling.parse("average"));
        assertThat(settings.get(Keys.STAGE1_RATE)).isEqualTo(0.01);
        assertThat(settings.get(Keys.PER_LENGTH)).isFalse();
    }
}
