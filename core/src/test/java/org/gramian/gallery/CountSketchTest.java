package org.gramian.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class CountSketchTest {
    private static final int LONG = 8256;

    private static double inner(float[] u, float[] v) {
        double sum = 0;
        for (int i = 0; i < u.length; i++) {
            sum += (double) u[i] * v[i];
        }
        return sum;
    }

    private static double squaredDistance(float[] u, float[] v) {
        return inner(u, u) + inner(v, v) - 2 * inner(u, v);
    }

    @RandomTest(times = 10)
    void aShortDescriptorIsKeptWhole(Seed seed) {
        int size = seed.random().nextInt(1, CountSketch.LENGTH + 1);
        float[] descriptor = TinyGallery.descriptor(seed.random(), size);
        assertThat(CountSketch.of(size).length()).isEqualTo(size);
        assertThat(CountSketch.of(size).apply(descriptor)).isEqualTo(descriptor).isNotSameAs(descriptor);
    }

    @RandomTest(times = 10)
    void aSketchIsLinear(Seed seed) {
        SplittableRandom random = seed.random();
        CountSketch sketch = CountSketch.of(LONG);
        float[] u = TinyGallery.descriptor(random, LONG);
        float[] v = TinyGallery.descriptor(random, LONG);
        float[] sum = new float[LONG];
        for (int i = 0; i < LONG; i++) {
            sum[i] = 2 * u[i] - v[i];
        }
        float[] ofSum = sketch.apply(sum);
        float[] ofU = sketch.apply(u);
        float[] ofV = sketch.apply(v);
        for (int i = 0; i < ofSum.length; i++) {
            assertThat((double) ofSum[i]).isCloseTo(2.0 * ofU[i] - ofV[i], within(1e-4));
        }
    }

    /** √(2/m) is 4.4 % for m = 1024; the mean over 200 pairs of one sketch is that of the square of errors. */
    @Test
    void squaredDistancesHaveTheErrorThatIsSaidAndNoMore() {
        SplittableRandom random = new SplittableRandom(5);
        CountSketch sketch = CountSketch.of(LONG);
        double squares = 0;
        double errors = 0;
        int pairs = 200;
        for (int i = 0; i < pairs; i++) {
            float[] u = TinyGallery.descriptor(random, LONG);
            float[] v = TinyGallery.descriptor(random, LONG);
            double error = squaredDistance(sketch.apply(u), sketch.apply(v)) / squaredDistance(u, v) - 1;
            squares += error * error;
            errors += error;
        }
        double expected = Math.sqrt(2.0 / CountSketch.LENGTH);
        assertThat(Math.sqrt(squares / pairs)).isCloseTo(expected, within(0.25 * expected));
        // Five standard errors of the mean of unbiased numbers.
        assertThat(errors / pairs).isCloseTo(0, within(5 * expected / Math.sqrt(pairs)));
    }

    /** Two places that fall into one bin are added with their signs, so a basis vector stays one up to its sign. */
    @RandomTest(times = 10)
    void aUnitVectorHasItsLengthWhereverItsPlaceIs(Seed seed) {
        float[] unit = new float[LONG];
        unit[seed.random().nextInt(LONG)] = 1;
        float[] sketched = CountSketch.of(LONG).apply(unit);
        assertThat(inner(sketched, sketched)).isEqualTo(1);
    }

    @Test
    void binsAndSignsAreThoseOfEveryMachineAndVersion() {
        float[] counting = new float[2000];
        for (int i = 0; i < counting.length; i++) {
            counting[i] = i + 1;
        }
        float[] sketched = CountSketch.of(2000).apply(counting);
        assertThat(Arrays.copyOf(sketched, 6)).containsExactly(GOLDEN);
    }

    /** From another program that has the generator's formula alone. */
    private static final float[] GOLDEN = {-1568, 3282, 2945, 1619, 632, -705};

    @RandomTest(times = 10)
    void anImageIsDescribedByTheDirectionOfTheMeanOfItsCrops(Seed seed) {
        SplittableRandom random = seed.random();
        float[][] crops = new float[random.nextInt(1, 6)][];
        for (int i = 0; i < crops.length; i++) {
            crops[i] = TinyGallery.descriptor(random, 40);
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
        assertThat(inner(vector, vector)).isCloseTo(1, within(1e-3));
    }

    @Test
    void aDescriptorOfZerosStaysZeros() {
        assertThat(CountSketch.of(3).describe(new float[2][3])).containsExactly(0, 0, 0);
    }

    @Test
    void whatIsNoDescriptorIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> CountSketch.of(0)).has(facts("0"));
        assertThatIllegalArgumentException().isThrownBy(() -> CountSketch.of(1L << 40));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CountSketch.of(3).apply(new float[4]))
                .has(facts("3", "4"));
        assertThatIllegalArgumentException().isThrownBy(() -> CountSketch.of(3).describe(new float[0][]));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CountSketch.of(1).describe(new float[][] {{Float.NaN}}))
                .withMessageContaining("finite");
    }
}
