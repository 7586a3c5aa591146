package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.basis.JsonText;
import org.gramian.model.OpenSet.KnownImages;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class OpenSetTest {
    private static final int CLASSES = 3;

    /** Images whose distance from their own class is about 3, from the others about 9, with scores that agree. */
    private static KnownImages images(int count, SplittableRandom random) {
        List<Integer> labels = new ArrayList<>();
        List<Logits> logits = new ArrayList<>();
        List<float[][]> distances = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int label = i % CLASSES;
            double[] scores = new double[CLASSES];
            float[] away = new float[CLASSES];
            for (int k = 0; k < CLASSES; k++) {
                away[k] = (float) (k == label ? random.nextGaussian(3, 0.5) : random.nextGaussian(9, 1));
                scores[k] = (k == label ? 2 : 0) + random.nextGaussian();
            }
            labels.add(label);
            logits.add(Logits.of(scores));
            distances.add(new float[][] {away});
        }
        return new KnownImages(labels, logits, distances);
    }

    private static double pValue(OpenSet openSet, KnownImages images, int i) {
        return openSet.pValue(
                OpenSet.nearest(images.distances().get(i)), images.logits().get(i), 1);
    }

    @RandomTest(times = 4)
    void pValuesOfKnownImagesAreUniform(Seed seed) {
        SplittableRandom random = seed.random();
        OpenSet openSet = images(999, random).calibrate(0.1, 1);
        KnownImages others = images(3000, random);
        double below = 0;
        for (int i = 0; i < 3000; i++) {
            below += pValue(openSet, others, i) <= 0.1 ? 1 : 0;
        }
        // 4 standard deviations of both samples
        assertThat(below / 3000).isCloseTo(0.1, within(4 * Math.sqrt(0.09 / 999 + 0.09 / 3000)));
    }

    @RandomTest(times = 4)
    void imagesFarFromAllClassesAreUnknown(Seed seed) {
        OpenSet openSet = images(300, seed.random()).calibrate(0.01, 1);
        Logits sure = Logits.of(5, 0, 0);
        assertThat(openSet.isUnknown(openSet.pValue(30, sure, 1))).isTrue();
        assertThat(openSet.isUnknown(openSet.pValue(3, sure, 1))).isFalse();
    }

    @RandomTest(times = 4)
    void pValueFallsWithDistanceAndDoubt(Seed seed) {
        OpenSet openSet = images(300, seed.random()).calibrate(0.01, 1);
        assertThat(openSet.pValue(4, Logits.of(2, 0, 0), 1)).isLessThan(openSet.pValue(3, Logits.of(2, 0, 0), 1));
        assertThat(openSet.pValue(3, Logits.of(0.1, 0, 0), 1)).isLessThan(openSet.pValue(3, Logits.of(2, 0, 0), 1));
    }

    @RandomTest(times = 4)
    void classesFarApartAreToldWhenLeftOut(Seed seed) {
        assertThat(images(300, seed.random()).leftOutAuroc(1).orElseThrow()).isGreaterThan(0.99);
    }

    @Test
    void rateNeedsEnoughImages() {
        OpenSet.Scale scale = new OpenSet.Scale(0, 1);
        OpenSet few = new OpenSet(0.01, scale, scale, Collections.nCopies(98, 0.0));
        OpenSet enough = new OpenSet(0.01, scale, scale, Collections.nCopies(99, 0.0));
        assertThat(few.isPossible()).isFalse();
        assertThat(enough.isPossible()).isTrue();
        assertThat(few.withRate(0.05).isPossible()).isTrue();
        assertThat(few.withRate(0).isPossible()).isFalse();
    }

    @Test
    void refusesRatesAndScoresOutOfRange() {
        OpenSet.Scale scale = new OpenSet.Scale(0, 1);
        assertThatIllegalArgumentException().isThrownBy(() -> new OpenSet(1, scale, scale, List.of(0.0)));
        assertThatIllegalArgumentException().isThrownBy(() -> new OpenSet(-0.1, scale, scale, List.of(0.0)));
        assertThatIllegalArgumentException().isThrownBy(() -> new OpenSet(0.1, scale, scale, List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new OpenSet(0.1, scale, scale, List.of(Double.NaN)));
        assertThatIllegalArgumentException().isThrownBy(() -> new OpenSet.Scale(0, 0));
    }

    @RandomTest(times = 4)
    void jsonKeepsAllBits(Seed seed) {
        OpenSet openSet = images(120, seed.random()).calibrate(0.02, 1);
        assertThat(JsonText.parse(JsonText.of(openSet), OpenSet.class)).isEqualTo(openSet);
    }
}
