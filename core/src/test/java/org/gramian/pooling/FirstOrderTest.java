package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.FirstOrder.GeneralizedMean;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws of the aggregations that look at each map by itself, and values at their kinks. */
@ExtendWith(Scoped.class)
class FirstOrderTest {
    private static final Bindings NONE = Bindings.of(Map.of());

    private static Tensor of(String word, Tensor maps) {
        return apply(Pooling.parse(word).aggregation(), maps);
    }

    private static Tensor apply(Aggregation aggregation, Tensor maps) {
        try (Tape tape = Tape.inference()) {
            return aggregation.apply(tape.constant(maps), NONE).value().copy();
        }
    }

    /** The gradient of the sum of the descriptor. */
    private static double[] slopes(String word, Tensor maps) {
        try (Tape tape = Tape.recording()) {
            Var variable = tape.variable(maps);
            Var sum = Pooling.parse(word).aggregation().apply(variable, NONE).sum();
            try (Gradients gradients = tape.backward(sum)) {
                return gradients.of(variable).toDoubles();
            }
        }
    }

    /** One image of one map. */
    private static Tensor map(double... values) {
        return Tensors.of(values, Shape.of(1, 1, values.length), DType.F64);
    }

    private static Tensor grid(int height, int width, double... values) {
        return Tensors.of(values, Shape.of(1, 1, height, width), DType.F64);
    }

    private static Tensor positive(Seed seed, long... sizes) {
        return seed.gaussian(sizes).abs().add(0.1);
    }

    @Test
    void gradientOfTiedMaximumGoesToFirstOfItsPositions() {
        assertThat(slopes("max", map(1, 7, 3, 7, 7))).containsExactly(0, 1, 0, 0, 0);
        assertThat(slopes("max", map(-2, -2, -2))).containsExactly(1, 0, 0);
        assertThat(slopes("pyramid:1,of=max", grid(2, 2, 0, 5, 5, 5))).containsExactly(0, 1, 0, 0);
    }

    @Test
    void centerPriorIsGaussianOfSixthOfShortSide() {
        double[] weights = slopes("sum:prior=center", grid(3, 6, new double[18]));
        assertThat(weights[6 + 2]).isEqualTo(weights[6 + 3]).isCloseTo(Math.exp(-0.25 / 0.5), Offset.offset(1e-15));
        assertThat(weights[0]).isCloseTo(Math.exp(-(1 + 6.25) / 0.5), Offset.offset(1e-15));
        assertThat(of("sum:prior=center", grid(1, 1, 4)).item()).isEqualTo(4);
    }

    @RandomTest(times = 8)
    void generalizedMeanOfExponentOneIsAverage(Seed seed) {
        Tensor maps = positive(seed, 2, 3, 7);
        assertTensor(apply(new GeneralizedMean(1, false), maps)).isCloseTo(of("average", maps), 1e-13);
    }

    @RandomTest(times = 8)
    void generalizedMeanGrowsWithItsExponentTowardsMaximum(Seed seed) {
        Tensor maps = positive(seed, 2, 3, 7);
        double[] largest = of("max", maps).toDoubles();
        double[] before = new double[6];
        for (double p : new double[] {0.1, 1, 2, 3, 30, 3000}) {
            double[] means = apply(new GeneralizedMean(p, false), maps).toDoubles();
            for (int i = 0; i < 6; i++) {
                // the maximum alone is a share of at least 1/7 of the mean
                assertThat(means[i])
                        .isGreaterThan(before[i])
                        .isBetween(largest[i] * Math.pow(1.0 / 7, 1 / p) * (1 - 1e-12), largest[i] * (1 + 1e-12));
            }
            before = means;
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 3, 40, 500})
    void largeAndSmallFeaturesStayFiniteInSinglePrecision(double p) {
        Aggregation mean = new GeneralizedMean(p, false);
        for (double size : new double[] {1e-5, 1, 1e30}) {
            Tensor maps = map(size, 2 * size, 0).to(DType.F32);
            Tensor exact = apply(mean, map(1, 2, 1e-6 / size));
            assertThat(apply(mean, maps).item()).isCloseTo(exact.item() * size, Offset.offset(1e-5 * size));
        }
    }

    @Test
    void whatGeneralizedMeanTakesForSmallestHasNoGradient() {
        double[] slopes = slopes("gem:3,learn=false", map(-1, 0, GeneralizedMean.SMALLEST, 2));
        assertThat(slopes).startsWith(0, 0, 0);
        assertThat(slopes[3]).isCloseTo(Math.pow(0.25, 1.0 / 3), Offset.offset(1e-12));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "max",
                "sum",
                "sum:prior=center",
                "gem:3,learn=false",
                "pyramid:2",
                "pyramid:2,of=max",
                "weighted"
            })
    void featuresTwiceAsLargeGiveTwiceDescriptor(String word) {
        Seed seed = new Seed(4);
        Tensor maps =
                Pooling.parse(word).aggregation().isSpatial() ? positive(seed, 2, 5, 3, 4) : positive(seed, 2, 5, 12);
        assertTensor(of(word, maps.mul(2))).isCloseTo(of(word, maps).mul(2), 1e-13);
    }

    @Test
    void pyramidListsChannelsByCellAndLevel() {
        Tensor maps = Tensors.of(
                new double[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90},
                Shape.of(1, 2, 3, 3),
                DType.F64);
        // of three rows the cells are the first two and the last two
        assertThat(of("pyramid:2", maps).toDoubles())
                .containsExactly(new double[] {5, 50, 3, 30, 4, 40, 6, 60, 7, 70}, Offset.offset(1e-13));
        assertThat(of("pyramid:2,of=max", maps).toDoubles()).containsExactly(9, 90, 5, 50, 6, 60, 8, 80, 9, 90);
    }

    @Test
    void rejectsFewerPositionsThanCells() {
        assertRejected(() -> of("pyramid:3", grid(3, 5, new double[15])), "pyramid:3", "4×4", "3×5");
    }

    @RandomTest(times = 8)
    void weightedSumIsItsDefinition(Seed seed) {
        Tensor maps = seed.gaussian(1, 4, 6);
        double[] f = maps.toDoubles();
        double[] responses = new double[6];
        double[] shares = new double[4];
        for (int i = 0; i < 24; i++) {
            responses[i % 6] += Math.max(f[i], 0);
            shares[i / 6] += f[i] > 0 ? 1.0 / 6 : 0;
        }
        double length = Math.sqrt(Arrays.stream(responses).map(s -> s * s).sum());
        double all = Arrays.stream(shares).sum();
        double[] found = of("weighted", maps).toDoubles();
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int p = 0; p < 6; p++) {
                sum += Math.sqrt(responses[p] / length) * f[6 * i + p];
            }
            double weight = Math.log((all + 4e-6) / (shares[i] + 1e-6));
            assertThat(found[i]).isCloseTo(weight * sum, Offset.offset(1e-12));
        }
    }

    @Test
    void positionsWithoutResponseHaveZeroGradientInWeightedSum() {
        Tensor maps = Tensors.of(new double[] {3, 0, 4, 0}, Shape.of(1, 2, 2), DType.F64);
        double[] slopes = slopes("weighted", maps);
        assertThat(slopes[1]).isZero();
        assertThat(slopes[3]).isZero();
        assertThat(slopes[0]).isPositive();
    }
}
