package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Comparator;
import java.util.List;
import org.gramian.model.Prediction.ClassProbability;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.TinyModel;
import org.junit.jupiter.api.Test;

final class PredictionTest {
    @RandomTest
    void theLikeliestClassesComeFirstAndAllAddUpToOne(Seed seed) {
        Logits logits = Logits.of(seed.random().doubles(3, -5, 5).toArray());
        Prediction answer = Prediction.of(logits, TinyModel.card("center", 1.7));
        assertThat(answer.ranking())
                .hasSize(3)
                .isSortedAccordingTo(Comparator.comparingDouble((ClassProbability guess) -> -guess.probability()));
        assertThat(answer.best().name()).isEqualTo(TinyModel.CLASSES.get(logits.top()));
        assertThat(answer.best().probability()).isEqualTo(logits.probabilities(1.7)[logits.top()]);
        assertThat(answer.ranking().stream()
                        .mapToDouble(ClassProbability::probability)
                        .sum())
                .isCloseTo(1, within(1e-12));
        assertThat(answer.top(2)).isEqualTo(answer.ranking().subList(0, 2));
        assertThat(answer.top(99)).isEqualTo(answer.ranking());
    }

    @Test
    void equallyLikelyClassesKeepTheirOrder() {
        Prediction answer = Prediction.of(Logits.of(1, 2, 2), TinyModel.card("center"));
        assertThat(answer.ranking().stream().map(ClassProbability::name))
                .containsExactlyElementsOf(List.of("foliage", "glass", "fabric"));
        assertThat(Prediction.of(Logits.of(0, 0, 0), TinyModel.card("center")).ranking().stream()
                        .map(ClassProbability::name))
                .containsExactlyElementsOf(TinyModel.CLASSES);
    }

    @Test
    void scoresThatAreNoAnswerAreNamed() {
        ModelCard card = TinyModel.card("center");
        assertRejected(() -> Prediction.of(Logits.of(1, Double.NaN, 2), card), "foliage", "NaN");
        assertRejected(() -> Prediction.of(Logits.of(1, 2), card), "3", "classes", "2");
        assertRejected(() -> Prediction.of(Logits.of(1, 2, 3), card).top(0), "0");
    }
}
