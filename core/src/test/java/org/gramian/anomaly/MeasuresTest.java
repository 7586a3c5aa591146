package org.gramian.anomaly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.gramian.anomaly.AnomalyMap.Region;
import org.gramian.anomaly.Detector.Tiles;
import org.gramian.anomaly.evaluate.PixelMeasures;
import org.gramian.basis.Auroc;
import org.gramian.basis.Conformal;
import org.gramian.image.Image;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Logits;
import org.gramian.model.OpenSet;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class MeasuresTest {
    @RandomTest(times = 8)
    void pValuesOfGoodImagesAreUniform(Seed seed) {
        SplittableRandom random = seed.random();
        int trials = 4000;
        int alarms = 0;
        for (int i = 0; i < trials; i++) {
            List<Double> good = random.doubles(39).sorted().boxed().toList();
            alarms += Conformal.pValue(good, random.nextDouble()) <= 0.1 ? 1 : 0;
        }
        // exactly 0.1 for n = 39: (n + 1) · 0.1 is whole; 4 standard deviations
        assertThat(alarms / (double) trials).isCloseTo(0.1, within(4 * Math.sqrt(0.09 / trials)));
    }

    @RandomTest(times = 20)
    void scoreIsAboveThresholdExactlyIfPValueIsSmall(Seed seed) {
        SplittableRandom random = seed.random();
        List<Double> good = random.ints(random.nextInt(1, 60), 0, 20) // with ties
                .asDoubleStream()
                .sorted()
                .boxed()
                .toList();
        for (double rate : new double[] {0.01, 0.05, 0.1, 0.25, 0.5}) {
            for (double score = -0.5; score < 21; score += 0.5) {
                assertThat(Conformal.pValue(good, score) <= rate + 1e-12)
                        .isEqualTo(score > Conformal.threshold(good, rate));
            }
        }
    }

    @Test
    void reachableRateLetsTheLargestScoreBeExceeded() {
        for (int n = 1; n < 120; n++) {
            double rate = Conformal.reachable(0.01, n);
            List<Double> zeros = Collections.nCopies(n, 0.0);
            assertThat(Conformal.threshold(zeros, rate)).isZero();
            assertThat(Conformal.pValue(zeros, 1)).isLessThanOrEqualTo(rate);
        }
        assertThat(Conformal.reachable(0.05, 99)).isEqualTo(0.05);
    }

    @Test
    void rateOfOneInHundredNeeds99Images() {
        assertThat(Conformal.needed(0.01)).isEqualTo(99);
        assertThat(Conformal.threshold(Collections.nCopies(98, 0.0), 0.01)).isInfinite();
        assertThat(Conformal.threshold(Collections.nCopies(99, 0.0), 0.01)).isZero();
    }

    /** Scores are sorted once, when a card is made. */
    @Test
    void pValueCopiesNoScores() {
        List<Double> scores = new SplittableRandom(1).doubles(2000).boxed().toList();
        DetectorCard card = new DetectorCard(
                Preprocessing.TORCHVISION,
                List.of("layer"),
                64,
                64,
                0,
                1,
                0,
                0.01,
                scores,
                scores,
                new LinkedHashMap<>(),
                new LinkedHashMap<>());
        OpenSet.Scale scale = new OpenSet.Scale(0, 1);
        OpenSet openSet = new OpenSet(0.01, scale, scale, scores);
        Logits logits = Logits.of(1, 0);
        assertThat(allocated(() -> card.pValue(0.5) + card.threshold() + card.mapThreshold()))
                .isLessThan(1000);
        assertThat(allocated(() -> openSet.pValue(0.5, logits, 1))).isLessThan(1000);
    }

    /** Returns the bytes that a call allocates after a first one. */
    private static long allocated(DoubleSupplier call) {
        ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double first = call.getAsDouble();
        long before = thread.getCurrentThreadAllocatedBytes();
        double second = call.getAsDouble();
        long after = thread.getCurrentThreadAllocatedBytes();
        assertThat(second).isEqualTo(first);
        return after - before;
    }

    @RandomTest(times = 8)
    void aurocIsShareOfOrderedPairs(Seed seed) {
        SplittableRandom random = seed.random();
        double[] good = random.ints(30, 0, 12).asDoubleStream().toArray();
        double[] bad = random.ints(20, 4, 16).asDoubleStream().toArray();
        double expected = Arrays.stream(bad)
                .map(b -> Arrays.stream(good)
                        .map(g -> b > g ? 1 : b == g ? 0.5 : 0)
                        .average()
                        .orElseThrow())
                .average()
                .orElseThrow();
        assertThat(Auroc.of(good, bad).value()).isCloseTo(expected, within(1e-12));
    }

    @Test
    void errorOfAurocIsThatOfItsDistribution() {
        SplittableRandom random = new SplittableRandom(1);
        int trials = 2000;
        double[] values = new double[trials];
        double stated = 0;
        for (int i = 0; i < trials; i++) {
            double[] good = IntStream.range(0, 40)
                    .mapToDouble(_ -> random.nextGaussian())
                    .toArray();
            double[] bad = IntStream.range(0, 25)
                    .mapToDouble(_ -> random.nextGaussian(1, 1))
                    .toArray();
            Auroc auroc = Auroc.of(good, bad);
            values[i] = auroc.value();
            stated += auroc.error() / trials;
        }
        double mean = Arrays.stream(values).average().orElseThrow();
        double spread = Math.sqrt(Arrays.stream(values)
                .map(v -> (v - mean) * (v - mean))
                .average()
                .orElseThrow());
        assertThat(stated).isCloseTo(spread, within(0.1 * spread));
    }

    @RandomTest(times = 8)
    void pixelAurocIsThatOfAllPixels(Seed seed) {
        SplittableRandom random = seed.random();
        int width = 20;
        float[] map = new float[width * 15];
        boolean[] mask = new boolean[map.length];
        for (int i = 0; i < map.length; i++) {
            mask[i] = random.nextInt(5) == 0;
            map[i] = (float) (random.nextDouble(0.5, 1.5) + (mask[i] ? 0.4 : 0));
        }
        PixelMeasures measures = new PixelMeasures();
        measures.add(map, mask, width);
        double[] good = IntStream.range(0, map.length)
                .filter(i -> !mask[i])
                .mapToDouble(i -> map[i])
                .toArray();
        double[] bad = IntStream.range(0, map.length)
                .filter(i -> mask[i])
                .mapToDouble(i -> map[i])
                .toArray();
        assertThat(measures.auroc()).isCloseTo(Auroc.of(good, bad).value(), within(1e-3));
    }

    @Test
    void auproCountsEveryRegionTheSame() {
        int width = 100;
        float[] map = new float[width * 10];
        boolean[] mask = new boolean[map.length];
        Arrays.fill(map, 0.5f);
        for (int x = 0; x < 80; x++) { // a large region that is found
            mask[5 * width + x] = true;
            map[5 * width + x] = 3;
        }
        mask[99] = true; // a single pixel that is not, below all good ones
        map[99] = 0.1f;
        PixelMeasures measures = new PixelMeasures();
        measures.add(map, mask, width);
        assertThat(measures.regionCount()).isEqualTo(2);
        assertThat(measures.aupro()).isCloseTo(0.5, within(0.01));
    }

    @Test
    void regionsAreBoxesInPixelsOfImage() {
        float[] map = {
            0, 0, 0, 0,
            2, 2, 0, 0,
            0, 2, 0, 3
        };
        AnomalyMap found = new AnomalyMap(3, 4, map, 400, 150);
        assertThat(found.regions(1)).containsExactly(new Region(300, 100, 100, 50, 3), new Region(0, 50, 200, 100, 2));
        assertThat(found.regions(3)).isEmpty();
        assertThat(found.max()).isEqualTo(3);
    }

    @Test
    void mapAtItsOwnSizeIsUnchanged() {
        float[] map = {1, 2, 3, 4, 5, 6};
        assertThat(new AnomalyMap(2, 3, map, 30, 20).resized(3, 2)).containsExactly(map);
        float[] larger = new AnomalyMap(2, 3, map, 30, 20).resized(30, 20);
        assertThat(larger[0]).isEqualTo(1);
        assertThat(larger[599]).isEqualTo(6);
    }

    @RandomTest(times = 8)
    void tilesCoverImage(Seed seed) {
        SplittableRandom random = seed.random();
        int width = random.nextInt(1, 300);
        int height = random.nextInt(1, 300);
        boolean[] covered = new boolean[width * height];
        for (Tiles.Tile tile : Tiles.of(width, height, 64).all()) {
            for (int y = tile.y(); y < tile.y() + tile.height(); y++) {
                Arrays.fill(covered, y * width + tile.x(), y * width + tile.x() + tile.width(), true);
            }
        }
        assertThat(IntStream.range(0, covered.length).allMatch(i -> covered[i])).isTrue();
    }

    @RandomTest(times = 9)
    void syntheticDefectChangesPartOfImage(Seed seed) {
        SplittableRandom random = seed.random();
        byte[] noise = new byte[3 * 90 * 70];
        random.nextBytes(noise);
        Image image = new Image(90, 70, noise.clone());
        for (SyntheticDefects kind : SyntheticDefects.values()) {
            Image drawn = SyntheticDefects.draw(image, kind.ordinal(), random);
            long changed = IntStream.range(0, noise.length)
                    .filter(i -> drawn.rgb()[i] != noise[i])
                    .count();
            assertThat(changed).isBetween(1L, noise.length / 4L);
            assertThat(image.rgb()).isEqualTo(noise);
        }
    }

    @Test
    void syntheticDefectsFitIntoTheSmallestImages() {
        SplittableRandom random = new SplittableRandom(1);
        for (int[] size : new int[][] {{1, 1}, {1, 40}, {3, 2}}) {
            Image image = new Image(size[0], size[1], new byte[3 * size[0] * size[1]]);
            for (int i = 0; i < 60; i++) {
                Image drawn = SyntheticDefects.draw(image, i, random);
                assertThat(drawn.width()).isEqualTo(size[0]);
                assertThat(drawn.height()).isEqualTo(size[1]);
            }
        }
    }
}
