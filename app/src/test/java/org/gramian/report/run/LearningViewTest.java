package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.report.Chart;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

class LearningViewTest {
    private static List<EpochDone> run(int first, int second, boolean validated) {
        List<EpochDone> epochs = new ArrayList<>();
        for (int i = 0; i < first + second; i++) {
            double loss = 0.2 + 2 * Math.exp(-(i + 1) / 4.0);
            double accuracy = 0.95 - 0.8 * Math.exp(-(i + 1) / 3.0);
            ValidationScore score =
                    validated ? new ValidationScore(1.1 - accuracy, loss + 0.3) : new ValidationScore(0, loss);
            boolean early = i < first;
            epochs.add(epoch(early ? 1 : 2, early ? i : i - first, early ? 1 : 0.001, loss, accuracy, score));
        }
        return epochs;
    }

    private static EpochDone epoch(
            int stage, int number, double rate, double loss, double accuracy, ValidationScore score) {
        return new EpochDone(
                stage, number, rate, loss, accuracy, score.error(), score.loss(), true, OptionalDouble.empty());
    }

    private static String path(Chart chart, int line) {
        return chart.series().get(line).path();
    }

    @Test
    void marksStagesInEveryChart() {
        List<EpochDone> two = run(6, 4, true);
        assertThat(List.of(LearningView.loss(two), LearningView.accuracy(two), LearningView.learningRate(two)))
                .allSatisfy(chart -> assertThat(chart.rules()).hasSize(1));
        assertThat(LearningView.loss(run(10, 0, true)).rules()).isEmpty();
    }

    @Test
    void nonFiniteValuesAreGaps() {
        List<EpochDone> points = new ArrayList<>(run(5, 0, true));
        points.add(epoch(1, 5, 0, Double.NaN, 0.5, new ValidationScore(Double.NaN, Double.POSITIVE_INFINITY)));
        assertThat(path(LearningView.loss(points), 0).chars().filter(c -> c == 'L'))
                .hasSize(4);
        List<EpochDone> nothing = List.of(epoch(1, 0, 0, Double.NaN, Double.NaN, new ValidationScore(0, Double.NaN)));
        assertThat(path(LearningView.loss(nothing), 0)).isEmpty();
    }

    /** One run without a validation set makes the training accuracy the measure of all. */
    @Test
    void comparesRunsByCommonMetric() {
        List<EpochDone> with = run(4, 0, true);
        List<EpochDone> without = run(4, 0, false);
        assertThat(compared(with, without))
                .isEqualTo(compared(without, without))
                .isNotEqualTo(compared(with, with));
        assertThat(compared(List.of(), List.of())).isEmpty();
    }

    private static Optional<Chart> compared(List<EpochDone> first, List<EpochDone> second) {
        return LearningView.comparison(List.of("a", "b"), List.of(first, second));
    }
}
