package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.model.Logits;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EvaluationTest {
    @RandomTest
    void metricsDoNotDependOnTheOrderOfPredictions(Seed seed) {
        Evaluation evaluation = MadeUp.evaluation(seed.random(), 60, 7);
        List<ImagePrediction> shuffled = new ArrayList<>(evaluation.predictions());
        Collections.shuffle(shuffled, new Random(seed.value()));
        assertThat(new Evaluation(MadeUp.SETTING, evaluation.classes(), shuffled))
                .isEqualTo(evaluation);
    }

    @RandomTest
    void metricsDoNotDependOnTheOrderOfClasses(Seed seed) {
        Evaluation evaluation = MadeUp.evaluation(seed.random(), 60, 7);
        List<Integer> from = new ArrayList<>(IntStream.range(0, 7).boxed().toList());
        Collections.shuffle(from, new Random(seed.value()));
        Evaluation relabelled = new Evaluation(
                MadeUp.SETTING,
                from.stream().map(evaluation.classes()::get).toList(),
                evaluation.predictions().stream()
                        .map(one -> new ImagePrediction(
                                one.name(),
                                from.indexOf(one.truth()),
                                Logits.of(from.stream().map(one.logits()::get).toList())))
                        .toList());
        for (Metric metric : Metric.values()) {
            assertThat(metric.of(relabelled)).as(metric.text()).isCloseTo(metric.of(evaluation), within(1e-12));
        }
        for (int i = 0; i < 7; i++) {
            for (int j = 0; j < 7; j++) {
                assertThat(relabelled.confusion().count(i, j))
                        .isEqualTo(evaluation.confusion().count(from.get(i), from.get(j)));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1e101})
    void nonFiniteScoresAreRefusedWithTheImageName(double score) {
        assertRejected(
                () -> new ImagePrediction("wood/7.jpg", 0, Logits.of(1, score)), "wood/7.jpg", score, "class", "1");
    }

    @Test
    void inconsistentPredictionsAreRefused() {
        ImagePrediction one = new ImagePrediction("x", 0, Logits.of(1, 2));
        refused(() -> new ImagePrediction("x", 2, Logits.of(1, 2)), facts("x", "0", "1", "2"));
        refused(() -> new ImagePrediction("", 0, Logits.of(1)), facts("name"));
        refused(() -> new Evaluation(MadeUp.SETTING, List.of("a", "b"), List.of()), facts("evaluate"));
        refused(() -> new Evaluation(MadeUp.SETTING, List.of("a", "b", "c"), List.of(one)), facts("x", "3", "2"));
        refused(() -> new Evaluation(MadeUp.SETTING, List.of("a", "a"), List.of(one)), facts("classes"));
        refused(() -> new Evaluation(MadeUp.SETTING, List.of("a", "b"), List.of(one, one)), facts("x"));
    }

    private static void refused(Runnable action, Facts message) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(action::run)
                .has(message);
    }
}
