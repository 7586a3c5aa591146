package org.gramian.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.model.Logits;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class CalibrationTest {
    private static Calibration of(List<ImagePrediction> predictions) {
        return Calibration.of(predictions, Temperature.NONE);
    }

    @RandomTest
    void lossesFollowTheirDefinition(Seed seed) {
        List<ImagePrediction> predictions = MadeUp.predictions(seed.random(), 40, 6);
        double loss = 0;
        double brier = 0;
        for (ImagePrediction prediction : predictions) {
            double total = 0;
            for (double score : prediction.logits().toArray()) {
                total += Math.exp(score);
            }
            for (int k = 0; k < 6; k++) {
                double p = Math.exp(prediction.logits().get(k)) / total;
                brier += Math.pow(p - (k == prediction.truth() ? 1 : 0), 2) / 40;
                loss -= k == prediction.truth() ? Math.log(p) / 40 : 0;
            }
        }
        assertThat(of(predictions).logLoss()).isCloseTo(loss, within(1e-12));
        assertThat(of(predictions).brier()).isCloseTo(brier, within(1e-12));
    }

    @RandomTest
    void binsContainEveryImageOnceByItsConfidence(Seed seed) {
        List<ImagePrediction> predictions = MadeUp.predictions(seed.random(), 90, 3);
        List<Calibration.Bin> bins = of(predictions).bins();
        assertThat(bins).hasSize(Calibration.BINS);
        assertThat(bins.stream().mapToInt(Calibration.Bin::count).sum()).isEqualTo(90);
        double error = 0;
        for (Calibration.Bin bin : bins) {
            List<ImagePrediction> inside = predictions.stream()
                    .filter(one -> {
                        double confidence = one.logits().probabilities(1)[one.predicted()];
                        return confidence > bin.low() && confidence <= bin.high();
                    })
                    .toList();
            assertThat(bin.count()).isEqualTo(inside.size());
            if (bin.count() > 0) {
                assertThat(bin.confidence()).isBetween(bin.low(), bin.high());
            }
            double right = inside.stream().filter(ImagePrediction::right).count();
            assertThat(bin.accuracy()).isCloseTo(inside.isEmpty() ? 0 : right / inside.size(), within(1e-15));
            error += Math.abs(right - bin.count() * bin.confidence()) / 90;
        }
        assertThat(of(predictions).error()).isCloseTo(error, within(1e-12));
    }

    @RandomTest(times = 3)
    void calibratedProbabilitiesHaveASmallErrorAndOverconfidentOnesALargeOne(Seed seed) {
        SplittableRandom random = seed.random();
        assertThat(of(MadeUp.calibrated(random, 20_000, 1)).error()).isLessThan(0.02);
        assertThat(of(MadeUp.calibrated(random, 5_000, 4)).error()).isGreaterThan(0.1);
    }

    @Test
    void aConfidentErrorIsNotClipped() {
        Calibration calibration = of(List.of(new ImagePrediction("x", 0, Logits.of(0, 1e6))));
        assertThat(calibration.logLoss()).isEqualTo(1e6);
        assertThat(calibration.brier()).isEqualTo(2);
        assertThat(calibration.error()).isEqualTo(1);
    }

    @RandomTest
    void gainIsTheDifferenceOfLogLossesAndItsSignFollowsTheOrder(Seed seed) {
        SplittableRandom random = seed.random();
        Evaluation first = MadeUp.evaluation(random, random.nextInt(1, 30), 4);
        List<ImagePrediction> others = first.predictions().stream()
                .map(one -> new ImagePrediction(one.name(), one.truth(), Logits.of(MadeUp.scores(random, 4, 2))))
                .toList();
        Evaluation second = new Evaluation(first.setting(), first.classes(), others)
                .calibrated(new Temperature(random.nextDouble(0.5, 2), "images"));
        PairedTest.Gain gain = PairedTest.Gain.of(first, second);
        assertThat(gain.mean())
                .isCloseTo(first.calibration().logLoss() - second.calibration().logLoss(), within(1e-12));
        PairedTest.Gain reversed = PairedTest.Gain.of(second, first);
        assertThat(reversed.mean()).isCloseTo(-gain.mean(), within(1e-12));
        assertThat(gain.isSignificant() && reversed.isSignificant()).isFalse();
        assertThat(PairedTest.Gain.of(first, first).isSignificant()).isFalse();
        assertThat(gain.isSignificant() && others.size() == 1).as("one image").isFalse();
    }
}
