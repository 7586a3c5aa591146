package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.compare.PredictionTable;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class ConfusionMatrixTest {
    /** Class 0 is predicted as 1 twice; class 2 is never predicted; class 3 has no images. */
    private static final Evaluation UNEVEN = MadeUp.of(4, new int[] {0, 0, 0, 1, 2, 2}, new int[] {0, 1, 1, 1, 0, 3});

    @Test
    void rowsAreTheTruthAndColumnsThePrediction() {
        assertThat(UNEVEN.confusion().counts())
                .containsExactly(List.of(1, 2, 0, 0), List.of(0, 1, 0, 0), List.of(1, 0, 0, 1), List.of(0, 0, 0, 0));
        assertThat(UNEVEN.confusion().count(0, 1)).isEqualTo(2);
    }

    @Test
    void classScoresMatchHandComputedValues() {
        assertThat(UNEVEN.confusion().perClass())
                .containsExactly(
                        new ClassScore("class 0", 3, 2, 1),
                        new ClassScore("class 1", 1, 3, 1),
                        new ClassScore("class 2", 2, 0, 0),
                        new ClassScore("class 3", 0, 1, 0));
        ClassScore second = UNEVEN.confusion().perClass().get(1);
        assertThat(second.precision()).isEqualTo(1.0 / 3);
        assertThat(second.recall()).isEqualTo(1);
        assertThat(second.f1()).isEqualTo(0.5);
    }

    @Test
    void macroMeansCountUnpredictedClassesAsZeroAndSkipEmptyOnes() {
        assertThat(UNEVEN.confusion().macroRecall()).isCloseTo((1.0 / 3 + 1 + 0) / 3, within(1e-15));
        assertThat(UNEVEN.confusion().macroF1()).isCloseTo((0.4 + 0.5 + 0) / 3, within(1e-15));
    }

    @RandomTest
    void confusionsContainEveryErrorOnceMostFrequentFirst(Seed seed) {
        Evaluation evaluation = MadeUp.evaluation(seed.random(), 70, 5);
        List<ConfusionMatrix.Confusion> found = evaluation.confusion().confusions();
        assertThat(found)
                .isSortedAccordingTo(Comparator.comparingInt(ConfusionMatrix.Confusion::count)
                        .reversed())
                .allMatch(one -> one.count() > 0 && !one.truth().equals(one.predicted()))
                .doesNotHaveDuplicates();
        assertThat(found.stream().mapToInt(ConfusionMatrix.Confusion::count).sum())
                .isEqualTo(70 - evaluation.accuracy().right());
        assertThat(PredictionTable.of(evaluation).mistakes())
                .hasSize(70 - evaluation.accuracy().right())
                .noneMatch(PredictionTable.Row::right)
                .isSortedAccordingTo(Comparator.comparingDouble(PredictionTable.Row::probability)
                        .reversed());
    }
}
