package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.gramian.evaluate.Temperature.Outcome;
import org.gramian.model.Logits;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class TemperatureTest {
    @RandomTest(times = 40)
    void fittingNeverRaisesTheLogLoss(Seed seed) {
        SplittableRandom random = seed.random();
        Evaluation before = MadeUp.evaluation(random, random.nextInt(1, 60), random.nextInt(1, 8));
        Evaluation after = before.calibrated(Temperature.fit(before.predictions()));
        assertThat(after.calibration().logLoss())
                .isLessThanOrEqualTo(before.calibration().logLoss());
    }

    @RandomTest
    void noOtherTemperatureHasALowerLogLoss(Seed seed) {
        SplittableRandom random = seed.random();
        List<ImagePrediction> predictions = MadeUp.predictions(random, 80, 5);
        Temperature fitted = Temperature.fit(predictions);
        assertThat(fitted.outcome()).isEqualTo(Outcome.FITTED);
        double best = Calibration.logLoss(predictions, fitted.value());
        for (double factor : new double[] {1e-3, 0.5, 0.99, 0.9999, 1.0001, 1.01, 2, 1e3, random.nextDouble(0.1, 10)}) {
            assertThat(Calibration.logLoss(predictions, factor * fitted.value()))
                    .isGreaterThan(best - 1e-14);
        }
    }

    @RandomTest
    void predictedClassesStayTheSame(Seed seed) {
        Evaluation before = MadeUp.evaluation(seed.random(), 50, 5);
        Evaluation after = before.calibrated(Temperature.fit(before.predictions()));
        assertThat(after.confusion()).isEqualTo(before.confusion());
        assertThat(after.top(3)).isEqualTo(before.top(3));
    }

    @RandomTest
    void scaledScoresScaleTheTemperature(Seed seed) {
        SplittableRandom random = seed.random();
        List<ImagePrediction> predictions = MadeUp.predictions(random, 60, 4);
        for (double scale : new double[] {random.nextDouble(0.1, 10), 1e-30, 1e30}) {
            List<ImagePrediction> scaled = predictions.stream()
                    .map(one -> new ImagePrediction(
                            one.name(),
                            one.truth(),
                            Logits.of(Arrays.stream(one.logits().toArray())
                                    .map(score -> scale * score)
                                    .toArray())))
                    .toList();
            assertThat(Temperature.fit(scaled).value())
                    .isCloseTo(scale * Temperature.fit(predictions).value(), Percentage.withPercentage(1e-6));
        }
    }

    @RandomTest(times = 5)
    void theTrueTemperatureIsRecovered(Seed seed) {
        SplittableRandom random = seed.random();
        double temperature = Math.exp(random.nextDouble(-1.5, 1.5));
        assertThat(Temperature.fit(MadeUp.calibrated(random, 20_000, temperature))
                        .value())
                .isCloseTo(temperature, Percentage.withPercentage(5));
    }

    @RandomTest
    void theFitDoesNotDependOnTheOrderOfImages(Seed seed) {
        List<ImagePrediction> predictions = MadeUp.predictions(seed.random(), 30, 4);
        assertThat(Temperature.fit(predictions.reversed())).isEqualTo(Temperature.fit(predictions));
    }

    /** By hand: three of four are right with a margin of 1, so p = 3/4 and 1/T = log 3. */
    @Test
    void aClosedFormCaseIsFittedExactly() {
        List<ImagePrediction> predictions = List.of(
                new ImagePrediction("a", 0, Logits.of(1, 0)),
                new ImagePrediction("b", 0, Logits.of(1, 0)),
                new ImagePrediction("c", 1, Logits.of(7, 8)),
                new ImagePrediction("d", 1, Logits.of(1, 0)));
        assertThat(Temperature.fit(predictions).value()).isCloseTo(1 / Math.log(3), within(1e-11));
    }

    @Test
    void hugeMarginsDoNotOverflow() {
        List<ImagePrediction> predictions = List.of(
                new ImagePrediction("a", 0, Logits.of(1e99, 0)),
                new ImagePrediction("b", 0, Logits.of(1e99, -1e99)),
                new ImagePrediction("c", 1, Logits.of(1e-99, 0)));
        Temperature fitted = Temperature.fit(predictions);
        assertThat(fitted.value()).isPositive().isFinite();
        assertThat(Calibration.logLoss(predictions, fitted.value()))
                .isLessThanOrEqualTo(Calibration.logLoss(predictions, 1));
    }

    @Test
    void nothingIsFittedIfAllPredictionsAreRight() {
        List<ImagePrediction> sure = List.of(
                new ImagePrediction("a", 0, Logits.of(1e99, 0)),
                new ImagePrediction("b", 0, Logits.of(3, 1)),
                new ImagePrediction("c", 1, Logits.of(1, 1)));
        Temperature fitted = Temperature.fit(sure);
        assertThat(fitted).isEqualTo(new Temperature(1, Outcome.ALL_RIGHT));
    }

    @Test
    void uninformativeScoresAreNotScaled() {
        Temperature none = new Temperature(1, Outcome.NO_INFORMATION);
        assertThat(Temperature.fit(List.of(new ImagePrediction("a", 0, Logits.of(5)))))
                .as("one class")
                .isEqualTo(none);
        assertThat(Temperature.fit(List.of(new ImagePrediction("a", 1, Logits.of(2, 2, 2)))))
                .as("equal")
                .isEqualTo(none);
        assertThat(Temperature.fit(List.of(new ImagePrediction("a", 1, Logits.of(2, 0)))))
                .as("wrong")
                .isEqualTo(none);
        List<ImagePrediction> chance = List.of(
                new ImagePrediction("a", 1, Logits.of(0.1, 0.4)), new ImagePrediction("b", 0, Logits.of(0.1, 0.4)));
        assertThat(Temperature.fit(chance)).as("chance").isEqualTo(none);
    }

    @Test
    void invalidTemperaturesAreRefused() {
        for (double value : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> new Temperature(value, Outcome.FITTED))
                    .has(facts("0", value));
        }
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> new Temperature(2, Outcome.NONE));
        assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> Temperature.fit(List.of()));
    }
}
