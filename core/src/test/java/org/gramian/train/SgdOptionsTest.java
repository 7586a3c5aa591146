package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel.Metric;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SgdOptionsTest {
    @ParameterizedTest
    @ValueSource(doubles = {-0.1, Double.NaN, Double.POSITIVE_INFINITY})
    void invalidRatesAreRejected(double bad) {
        assertThatThrownBy(() -> SgdOptions.defaults(bad)).has(facts("learning rate", bad));
        assertThatThrownBy(() -> SgdOptions.defaults(1).at(bad)).has(facts("learning rate", bad));
        assertThatThrownBy(() -> new SgdOptions(0.1, 0.9, bad, StiefelOptions.defaults()))
                .has(facts("weight decay", bad));
        assertThatThrownBy(() -> new StiefelOptions(bad, Metric.CANONICAL, Retraction.QR))
                .has(facts("multiplier", bad));
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.1, 1, 1.5, Double.NaN})
    void momentumOutsideZeroToOneIsRejected(double bad) {
        assertThatThrownBy(() -> new SgdOptions(0.1, bad, 0, StiefelOptions.defaults()))
                .has(facts("momentum", bad));
    }

    @Test
    void changingTheRateChangesNothingElse() {
        SgdOptions options = new SgdOptions(0.1, 0.8, 1e-3, StiefelOptions.defaults());
        assertThat(options.at(0.01)).isEqualTo(new SgdOptions(0.01, 0.8, 1e-3, StiefelOptions.defaults()));
        assertThat(options.at(0.01).at(0.1)).isEqualTo(options);
    }

    @Test
    void defaultsMatchTheSpecification() {
        assertThat(SgdOptions.defaults(0.1))
                .isEqualTo(new SgdOptions(0.1, 0.9, 5e-4, new StiefelOptions(1e-3, Metric.CANONICAL, Retraction.QR)));
    }
}
