package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DriftTest {
    /** Adds conformal p-values of normal scores that are changed by a function. */
    private static Drift.State state(int calibration, int images, long seed, DoubleUnaryOperator change) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] good = random.doubles(calibration)
                .map(_ -> random.nextGaussian())
                .sorted()
                .toArray();
        Drift drift = new Drift(calibration);
        for (int i = 0; i < images; i++) {
            double score = change.applyAsDouble(random.nextGaussian());
            double atLeast = calibration + 1 + Arrays.binarySearch(good, score); // which does not occur
            drift.add((1 + atLeast) / (calibration + 1));
        }
        return drift.state();
    }

    @ParameterizedTest
    @ValueSource(ints = {30, 250, 2_000})
    void levelOfFalseDetectionHolds(int calibration) {
        boolean full = Boolean.getBoolean("gramian.full");
        int detected = 0;
        for (int seed = 0; seed < (full ? 2_000 : 500); seed++) {
            detected += state(calibration, Drift.WINDOW, seed, score -> score).isDrift() ? 1 : 0;
        }
        // at level 0.001, 2 are expected of 2,000: more than 6 has a probability of 0.5 %, more than 3 of 500 one of
        // 0.2 %
        assertThat(detected).isLessThanOrEqualTo(full ? 6 : 3);
    }

    @Test
    void shiftedScoresAreDetectedInBothDirections() {
        for (int seed = 0; seed < 20; seed++) {
            assertThat(state(250, Drift.WINDOW, seed, score -> score + 0.75).isDrift())
                    .isTrue();
            assertThat(state(250, Drift.WINDOW, seed, score -> score / 4).isDrift())
                    .isTrue();
        }
    }

    @Test
    void fewImagesAreNotCompared() {
        assertThat(state(250, Drift.FEWEST - 1, 1, score -> score + 9).isDrift())
                .isFalse();
        assertThat(state(250, Drift.FEWEST, 1, score -> score + 9).isDrift()).isTrue();
    }

    @Test
    void oldImagesLeaveTheWindow() {
        Drift drift = new Drift(4);
        for (int i = 0; i < 5_000; i++) {
            drift.add(i < 4_000 ? 0.2 : (1 + i % 5) / 5.0);
        }
        assertThat(drift.state().images()).isEqualTo(Drift.WINDOW);
        assertThat(drift.state().distance()).isCloseTo(0, within(1e-12));
    }
}
