package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.junit.jupiter.api.AfterEach;

/** Small integers, of which all sums are exact and many are equal, so that nothing may differ. */
class FeatureMapKernelsTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Tensor integers(SplittableRandom random, Shape shape) {
        return SmallIntegers.draw(random, shape).to(DType.BF16).to(Gpu.required());
    }

    @RandomTest(times = 40)
    void maximaAndTheirGradientsAreThoseOfTheOperators(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        Window window = WindowTest.window(random);
        Shape shape = Shape.of(
                1 + random.nextInt(3), 8L * (1 + random.nextInt(5)), 4 + random.nextInt(9), 4 + random.nextInt(9));
        Tensor maps = integers(random, shape);
        Tensor last = maps.channelsLast();
        assertThat(FeatureMapKernels.suitMaxima(last, window))
                .as("kernels are used")
                .isTrue();
        assertThat(FeatureMapKernels.suitMaxima(maps, window))
                .as("operators are used")
                .isFalse();

        Window.Maxima expected = window.max(maps);
        Window.Maxima found = window.max(last);
        assertThat(found.values().toDoubles()).containsExactly(expected.values().toDoubles());

        Tensor gradient = integers(random, expected.values().shape());
        double[] back = window.maxBackward(gradient, maps, expected.places()).toDoubles();
        assertThat(window.maxBackward(gradient, last, found.places()).toDoubles())
                .containsExactly(back);
    }

    @RandomTest(times = 3)
    void whatIsNoNumberIsTheLargest(Seed seed) {
        Gpu.required();
        Tensor maps = integers(seed.random(), Shape.of(1, 8, 4, 4));
        maps.slice(2, 1, 2).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 8, 1, 4), DType.BF16, maps.device()));
        double[] found = Window.of(2, 2).max(maps.channelsLast()).values().toDoubles();
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("window %d", i).isEqualTo(i / 2 % 2 == 0);
        }
    }

    @RandomTest(times = 20)
    void theGradientOfAReluIsSummedByChannel(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        long channels = 8L * (1 + random.nextInt(70));
        Shape shape = Shape.of(1 + random.nextInt(3), channels, 1 + random.nextInt(9), 1 + random.nextInt(40));
        boolean six = random.nextBoolean();
        Tensor rectified = integers(random, shape).relu();
        Tensor value = (six ? rectified.relu6InPlace() : rectified).channelsLast();
        Tensor gradient = integers(random, shape);
        Tensor other = random.nextBoolean() ? integers(random, shape) : null;
        FeatureMapKernels.GradientWithSums passed =
                FeatureMapKernels.activationBackward(gradient, other, value, six ? Activation.RELU6 : Activation.RELU);

        double[] g = (other == null ? gradient : gradient.add(other)).toDoubles();
        double[] y = value.toDoubles();
        double[] sums = new double[(int) channels];
        int positions = (int) (shape.at(2) * shape.at(3));
        for (int i = 0; i < g.length; i++) {
            g[i] = y[i] > 0 && (!six || y[i] < 6) ? g[i] : 0;
            sums[i / positions % (int) channels] += g[i];
        }
        assertThat(passed.input().toDoubles()).containsExactly(g);
        assertThat(passed.sums().toDoubles()).as("%s", Arrays.toString(sums)).containsExactly(sums);
    }

    @RandomTest(times = 20)
    void biasAndActivationOfAConvolutionAreThoseOfTheOperators(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        long channels = 1L + random.nextInt(9);
        long filters = 8L * (1 + random.nextInt(9));
        Tensor maps = integers(random, Shape.of(1 + random.nextInt(3), channels, 7, 5));
        Tensor weight = integers(random, Shape.of(filters, channels, 1, 1));
        Tensor bias = integers(random, Shape.of(filters));
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        assertThat(FeatureMapKernels.suitBias(maps, weight, single(bias)))
                .as("kernels are used")
                .isTrue();

        Convolution convolution = Convolution.plain();
        Tensor exact = convolution.apply(single(maps), single(weight), single(bias));
        double[] expected = activation.inPlace(exact).to(DType.BF16).toDoubles();
        assertThat(convolution
                        .apply(maps.channelsLast(), weight.channelsLast(), single(bias), activation)
                        .toDoubles())
                .containsExactly(expected);
    }

    @RandomTest(times = 20)
    void aResidualIsAddedBeforeTheActivation(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        Shape shape = Shape.of(1 + random.nextInt(3), 8L * (1 + random.nextInt(9)), 7, 5);
        Tensor sums = integers(random, shape);
        Tensor residual = integers(random, shape);
        Tensor bias = integers(random, Shape.of(shape.at(1)));
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        Tensor column = bias.reshape(1, shape.at(1), 1, 1);
        double[] expected = activation
                .inPlace(single(sums).add(single(column)).add(single(residual)))
                .toDoubles();
        Tensor copy = sums.copy().channelsLast();
        assertThat(FeatureMapKernels.addBias(copy, single(bias), residual, activation)
                        .toDoubles())
                .containsExactly(expected);
    }

    @RandomTest(times = 20)
    void rowsAreSummed(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        Tensor matrix = single(integers(random, Shape.of(1 + random.nextInt(1024), 1 + random.nextInt(200))));
        double[] expected = matrix.sum(0).toDoubles();
        assertThat(FeatureMapKernels.suitSumOverRows(matrix)).isTrue();
        assertThat(FeatureMapKernels.sumOverRows(matrix).toDoubles()).containsExactly(expected);
        assertThat(matrix.columnSums().toDoubles()).containsExactly(expected);
        Tensor transposed = matrix.transpose();
        assertThat(transposed.columnSums().toDoubles())
                .containsExactly(transposed.sum(0).toDoubles());
        Tensor tall = single(integers(random, Shape.of(1025, 3)));
        assertThat(tall.columnSums().toDoubles()).containsExactly(tall.sum(0).toDoubles());
    }

    private static Tensor single(Tensor tensor) {
        return tensor.to(DType.F32);
    }
}
