package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.model.Logits;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class TemperatureTest {
    @RandomTest(times = 40)
    void fittingNeverRaisesTheLogLoss(Seed seed) {
        SplittableRandom random = seed.random();
        Evaluation before = MadeUp.evaluation(random, random.nextInt(1, 60), random.nextInt(1, 8));
        Evaluation after = before.calibrated(fit(before.predictions()));
        assertThat(after.calibration().logLoss())
                .isLessThanOrEqualTo(before.calibration().logLoss());
    }

    @RandomTest
    void noOtherTemperatureHasALowerPenalizedLoss(Seed seed) {
        SplittableRandom random = seed.random();
        List<ImagePrediction> predictions = MadeUp.predictions(random, 80, 5);
        double fitted = fit(predictions).value();
        double best = penalized(predictions, fitted);
        for (double factor : new double[] {1e-3, 0.5, 0.99, 0.9999, 1.0001, 1.01, 2, 1e3, random.nextDouble(0.1, 10)}) {
            assertThat(penalized(predictions, factor * fitted)).isGreaterThan(best - 1e-12);
        }
    }

    private static double penalized(List<ImagePrediction> predictions, double temperature) {
        return predictions.size() * Calibration.logLoss(predictions, temperature)
                + Temperature.PRIOR * (1 / temperature - 1 + Math.log(temperature));
    }

    @RandomTest(times = 5)
    void theTrueTemperatureIsRecovered(Seed seed) {
        SplittableRandom random = seed.random();
        double temperature = Math.exp(random.nextDouble(-1.5, 1.5));
        assertThat(fit(MadeUp.calibrated(random, 20_000, temperature)).value())
                .isCloseTo(temperature, Percentage.withPercentage(5));
    }

    /** By hand: three of four are right with a margin of 1, so {@code 4 (p − 3/4) + λ (1 − T) = 0}. */
    @Test
    void minimumSolvesTheEquationOfPosteriorMode() {
        List<ImagePrediction> predictions = List.of(
                new ImagePrediction("a", 0, Logits.of(1, 0)),
                new ImagePrediction("b", 0, Logits.of(1, 0)),
                new ImagePrediction("c", 1, Logits.of(7, 8)),
                new ImagePrediction("d", 1, Logits.of(1, 0)));
        double temperature = fit(predictions).value();
        double probability = 1 / (1 + Math.exp(-1 / temperature));
        assertThat(4 * (probability - 0.75) + Temperature.PRIOR * (1 - temperature))
                .isCloseTo(0, within(1e-10));
    }

    @Test
    void hugeMarginsDoNotOverflow() {
        List<ImagePrediction> predictions = List.of(
                new ImagePrediction("a", 0, Logits.of(1e99, 0)),
                new ImagePrediction("b", 0, Logits.of(1e99, -1e99)),
                new ImagePrediction("c", 1, Logits.of(1e-99, 0)));
        Temperature fitted = fit(predictions);
        assertThat(fitted.value()).isPositive().isFinite();
        assertThat(Calibration.logLoss(predictions, fitted.value()))
                .isLessThanOrEqualTo(Calibration.logLoss(predictions, 1));
    }

    private static Temperature fit(List<ImagePrediction> predictions) {
        return Temperature.fit(predictions, Optional.empty());
    }

    @Test
    void invalidTemperaturesAreRefused() {
        for (double value : new double[] {0, -1, 1e-320, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertRejected(() -> new Temperature(value, "images"), "1.0E-6", value);
        }
        assertRejected(() -> fit(List.of()));
    }
}
