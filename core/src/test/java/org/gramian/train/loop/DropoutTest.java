package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The mask of dropout: its hash, its share, what it depends on, and its gradient. */
class DropoutTest {
    /** Draws for a pooling follow from the example's place alone, not from the batch or its order. */
    @Test
    void drawsOfABatchAreThoseOfItsExamples() {
        Dropout dropout = Dropout.of(0, 9, 1, 3);
        double[] both = dropout.of(new int[] {5, 2}).randomInputs(4);
        double[] one = dropout.of(new int[] {2}).randomInputs(4);
        assertThat(Arrays.copyOfRange(both, 4, 8)).isEqualTo(one);
        assertThat(both).doesNotHaveDuplicates();
        assertThat(Arrays.stream(both)).allMatch(draw -> draw >= 0 && draw < 1);
        assertThat(Dropout.of(0, 9, 1, 4).of(new int[] {2}).randomInputs(4)).isNotEqualTo(one);
    }

    private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;
    private static final int[] PLACES = IntStream.range(0, 200).toArray();
    private static final int COLUMNS = 500;

    private static double[] factors(double rate, long seed, int stage, int epoch) {
        return Dropout.of(rate, seed, stage, epoch).factors(PLACES, COLUMNS);
    }

    /** SplittableRandom draws mix(seed + γ), mix(seed + 2γ), … by the same finalizer. */
    @Test
    void drawsAreThoseOfSplitMix() {
        Dropout dropout = Dropout.of(0.25, 7, 1, 3);
        int[] places = {0, 5, 123_456};
        double[] factors = dropout.factors(places, 40);
        for (int i = 0; i < places.length; i++) {
            long row = new SplittableRandom(dropout.key() + places[i] * GOLDEN_RATIO).nextLong();
            SplittableRandom draws = new SplittableRandom(row);
            for (int j = 0; j < 40; j++) {
                boolean dropped = (draws.nextLong() >>> 40) < (1 << 22);
                assertThat(factors[i * 40 + j]).as("%d, %d", i, j).isEqualTo(dropped ? 0 : (float) (4.0 / 3));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.9})
    void dropoutKeepsTheMean(double rate) {
        double[] factors = factors(rate, 1, 1, 0);
        double spread = 5 * Math.sqrt(rate * (1 - rate) / factors.length); // 5 standard deviations
        double dropped = (double) Arrays.stream(factors).filter(f -> f == 0).count() / factors.length;
        assertThat(dropped).isCloseTo(rate, within(spread));
        assertThat(Arrays.stream(factors).average().orElseThrow()).isCloseTo(1, within(spread / (1 - rate)));
        for (int column : new int[] {0, 1, COLUMNS - 1}) {
            double ofColumn = IntStream.range(0, PLACES.length)
                            .filter(i -> factors[i * COLUMNS + column] == 0)
                            .count()
                    / (double) PLACES.length;
            assertThat(ofColumn).isCloseTo(rate, within(5 * Math.sqrt(rate * (1 - rate) / PLACES.length)));
        }
    }

    @Test
    void masksOfOtherEpochsStagesAndSeedsAreIndependent() {
        double[] one = factors(0.5, 1, 1, 0);
        assertThat(factors(0.5, 1, 1, 0)).containsExactly(one);
        for (double[] other : new double[][] {factors(0.5, 1, 1, 1), factors(0.5, 1, 2, 0), factors(0.5, 2, 1, 0)}) {
            double both = IntStream.range(0, one.length)
                            .filter(i -> one[i] == 0 && other[i] == 0)
                            .count()
                    / (double) one.length;
            assertThat(both).isCloseTo(0.25, within(5 * Math.sqrt(0.25 * 0.75 / one.length)));
        }
    }

    @Test
    void descriptorsAndTheirGradientsAreTimesTheFactors() {
        Dropout dropout = Dropout.of(0.4, 9, 1, 0);
        int[] places = {4, 8, 15};
        double[] factors = dropout.factors(places, 6);
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Tensor value = Tensors.gaussian(new SplittableRandom(1), Shape.of(3, 6), DType.F64);
            Tensor upstream = Tensors.gaussian(new SplittableRandom(2), Shape.of(3, 6), DType.F64);
            double[] v = value.toDoubles();
            double[] g = upstream.toDoubles();
            Var x = tape.variable(value);
            Var y = dropout.apply(x, places);
            double[] found = y.value().toDoubles();
            try (Gradients gradients = tape.backward(y, upstream)) {
                double[] back = gradients.of(x).toDoubles();
                for (int i = 0; i < v.length; i++) {
                    assertThat(found[i]).isEqualTo(v[i] * factors[i]);
                    assertThat(back[i]).isEqualTo(g[i] * factors[i]);
                }
            }
            assertThat(factors).contains(0.0).doesNotContain(1.0);
            assertThat(Dropout.of(0, 9, 1, 0).apply(x, places)).isSameAs(x);
        }
    }
}
