package org.gramian.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.report.Chart.Axis;
import org.gramian.report.Chart.Line;
import org.junit.jupiter.api.Test;

class ScaleTest {
    @Test
    void positionsKeepOrderWithinScale() {
        SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 200; round++) {
            double a = Math.pow(10, random.nextDouble(-8, 8));
            double b = a * (1 + Math.pow(10, random.nextDouble(-3, 3)));
            for (Scale scale : List.of(Scale.linear(a, b), Scale.logarithmic(a, b))) {
                assertThat(scale.low()).isLessThanOrEqualTo(a * (1 + 1e-6));
                assertThat(scale.high()).isGreaterThanOrEqualTo(b * (1 - 1e-6));
                assertThat(scale.at(a)).isBetween(0.0, 1.0).isLessThan(scale.at(b));
                assertThat(scale.ticks()).hasSizeBetween(2, 12);
                assertThat(scale.ticks()).isSortedAccordingTo((x, y) -> Double.compare(x.at(), y.at()));
            }
        }
    }

    @Test
    void acceptsEqualEndsRejectsReversedEnds() {
        assertThat(Scale.linear(3, 3).at(3)).isBetween(0.0, 1.0);
        assertThat(Scale.linear(0, 0).ticks()).isNotEmpty();
        assertThat(Scale.logarithmic(10, 10).at(10)).isEqualTo(0, within(1e-9));
        assertThatThrownBy(() -> new Scale(2, 1, false)).has(facts("2.0", "1.0"));
    }

    @Test
    void lineBreaksAtMissingValue() {
        Chart chart = new Chart(
                "t",
                Axis.of("x", Scale.exactly(1, 3)),
                Axis.of("y", Scale.exactly(0, 1)),
                List.of(Line.of("a", List.of(0.0, Double.NaN, 1.0))),
                List.of());
        assertThat(chart.series().getFirst().path()).isEqualTo("M0.0 220.0M400.0 0.0");
        assertThat(chart.series().getFirst().marks()).hasSize(2);
    }
}
