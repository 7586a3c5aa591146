package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class CountSketchTest {
    @RandomTest(times = 4)
    void sketchIsTheSumOfItsSignedElements(Seed seed) {
        CountSketch sketch = CountSketch.of(3000);
        double[] values = seed.random().doubles(3000).toArray();
        double[] expected = sketch.apply(values);
        int[][] summed = sketch.summed();
        for (int bin = 0; bin < summed.length; bin++) {
            double sum = 0;
            for (int i : summed[bin]) {
                sum += i < 0 ? 0 : sketch.sign(i) * values[i];
            }
            assertThat(sum).isCloseTo(expected[bin], within(1e-12));
        }
    }

    private static final int LONG = 8256;

    private static double inner(double[] u, double[] v) {
        double sum = 0;
        for (int i = 0; i < u.length; i++) {
            sum += u[i] * v[i];
        }
        return sum;
    }

    private static double squaredDistance(double[] u, double[] v) {
        return inner(u, u) + inner(v, v) - 2 * inner(u, v);
    }

    private static double[] random(SplittableRandom random) {
        return random.doubles(LONG, -1, 1).toArray();
    }

    @RandomTest(times = 10)
    void sketchIsLinear(Seed seed) {
        CountSketch sketch = CountSketch.of(LONG);
        double[] u = random(seed.random());
        double[] v = random(seed.random());
        double[] sum = new double[LONG];
        Arrays.setAll(sum, i -> 2 * u[i] - v[i]);
        double[] expected = sketch.apply(u);
        Arrays.setAll(expected, i -> 2 * expected[i] - sketch.apply(v)[i]);
        assertThat(sketch.apply(sum)).containsExactly(expected, within(1e-9));
    }

    /** √(2/m) is 4.4 % for m = 1024; the mean over 200 pairs of one sketch is that of the square of errors. */
    @Test
    void squaredDistancesHaveTheStatedError() {
        SplittableRandom random = new SplittableRandom(5);
        CountSketch sketch = CountSketch.of(LONG);
        double squares = 0;
        double errors = 0;
        int pairs = 200;
        for (int i = 0; i < pairs; i++) {
            double[] u = random(random);
            double[] v = random(random);
            double error = squaredDistance(sketch.apply(u), sketch.apply(v)) / squaredDistance(u, v) - 1;
            squares += error * error;
            errors += error;
        }
        double expected = Math.sqrt(2.0 / CountSketch.LENGTH);
        assertThat(Math.sqrt(squares / pairs)).isCloseTo(expected, within(0.25 * expected));
        // Five standard errors of the mean of unbiased numbers.
        assertThat(errors / pairs).isCloseTo(0, within(5 * expected / Math.sqrt(pairs)));
    }

    /** From another program that has the generator's formula alone. */
    @Test
    void binsAndSignsAreThoseOfEveryMachine() {
        double[] counting = IntStream.rangeClosed(1, 2000).asDoubleStream().toArray();
        assertThat(Arrays.copyOf(CountSketch.of(2000).apply(counting), 6))
                .containsExactly(-1568, 3282, 2945, 1619, 632, -705);
    }

    @RandomTest(times = 10)
    void describesAnImageByTheDirectionOfItsMeanCrop(Seed seed) {
        SplittableRandom random = seed.random();
        float[][] crops = new float[random.nextInt(1, 6)][];
        for (int i = 0; i < crops.length; i++) {
            crops[i] = new float[40];
            for (int k = 0; k < 40; k++) {
                crops[i][k] = (float) random.nextGaussian();
            }
        }
        float[] vector = CountSketch.of(40).describe(crops);
        double[] mean = new double[40];
        for (float[] crop : crops) {
            Arrays.setAll(mean, i -> mean[i] + crop[i] / crops.length);
        }
        double length = Math.sqrt(Arrays.stream(mean).map(x -> x * x).sum());
        for (int i = 0; i < mean.length; i++) {
            assertThat((double) vector[i]).isCloseTo(mean[i] / length, within(1e-3));
            assertThat(Float.float16ToFloat(Float.floatToFloat16(vector[i]))).isEqualTo(vector[i]);
        }
    }

    @Test
    void rejectsInvalidDescriptors() {
        assertThat(CountSketch.of(3).describe(new float[2][3])).containsExactly(0, 0, 0);
        assertRejected(() -> CountSketch.of(0), "0");
        assertRejected(() -> CountSketch.of(1L << 40));
        assertRejected(() -> CountSketch.of(3).describe(new float[1][4]), "3", "4");
        assertRejected(() -> CountSketch.of(3).describe(new float[0][]));
        assertRejected(() -> CountSketch.of(1).describe(new float[][] {{Float.NaN}}), "finite");
    }
}
