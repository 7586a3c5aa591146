package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.model.Logits;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class LogitsTest {
    @RandomTest
    void probabilitiesFollowTheDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        double[] scores = MadeUp.scores(random, random.nextInt(1, 12), 3);
        double temperature = random.nextDouble(0.3, 3);
        Logits logits = Logits.of(scores);
        double total = Arrays.stream(scores).map(z -> Math.exp(z / temperature)).sum();
        for (int k = 0; k < scores.length; k++) {
            double expected = Math.exp(scores[k] / temperature) / total;
            assertThat(logits.probabilities(temperature)[k]).isCloseTo(expected, within(1e-14));
            assertThat(logits.logProbability(k, temperature)).isCloseTo(Math.log(expected), within(1e-12));
        }
    }

    @Test
    void aProbabilityThatUnderflowsHasItsLogarithm() {
        Logits logits = Logits.of(0, 5000);
        assertThat(logits.probabilities(1)[0]).isZero();
        assertThat(logits.logProbability(0, 1)).isEqualTo(-5000);
        assertThat(Logits.of(0, 100).logProbability(1, 1)).isCloseTo(-Math.exp(-100), within(1e-57));
        assertThat(Logits.of(-ImagePrediction.MOST, ImagePrediction.MOST).logProbability(0, 1e-3))
                .isFinite();
    }

    @RandomTest
    void cropsAreAveragedAsProbabilities(Seed seed) {
        SplittableRandom random = seed.random();
        Logits one = Logits.of(MadeUp.scores(random, 5, 2));
        Logits other = Logits.of(MadeUp.scores(random, 5, 2));
        Logits mean = Logits.meanProbability(List.of(one, other));
        for (int k = 0; k < 5; k++) {
            double expected = (one.probabilities(1)[k] + other.probabilities(1)[k]) / 2;
            assertThat(mean.probabilities(1)[k]).isCloseTo(expected, within(1e-14));
        }
        assertThat(Logits.meanProbability(List.of(Logits.of(0, 5000), Logits.of(0, 4000)))
                        .get(0))
                .isCloseTo(-4000 - Math.log(2), within(1e-9));
    }

    @Test
    void cropsOfDifferentModelsAreRefused() {
        assertRejected(() -> Logits.meanProbability(List.of(Logits.of(1, 2), Logits.of(1))), "[2, 1]");
        assertRejected(() -> Logits.meanProbability(List.of()));
    }
}
