package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Small integers, of which all sums are exact in BF16's products and float32's sums, so that only the last rounding remains. */
class StemKernelsTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Tensor there(Tensor tensor) {
        Tensor moved = tensor.to(DType.BF16).to(Gpu.required());
        return tensor.shape().rank() == 4 ? moved.channelsLast() : moved;
    }

    /** Few windows, since each is compiled for itself. */
    @RandomTest(times = 24)
    void convolutionsAndTheirGradientsAreThoseOfDoublePrecision(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        int window = List.of(3, 5, 7).get(random.nextInt(3));
        Convolution convolution = new Convolution(1 + random.nextInt(2), random.nextInt(window / 2 + 1), 1);
        long channels = 2 + random.nextInt(3);
        long wide = random.nextInt(3) == 0 ? 250 + random.nextInt(20) : window + random.nextInt(40);
        Tensor x = SmallIntegers.draw(
                random, Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(20), wide));
        Tensor w = SmallIntegers.draw(random, Shape.of(32L * (1 + random.nextInt(2)), channels, window, window));
        @Nullable Tensor b = random.nextBoolean() ? SmallIntegers.draw(random, Shape.of(w.size(0))) : null;
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        Tensor maps = there(x);
        Tensor weight = there(w);
        assertThat(StemKernels.suit(maps, weight, convolution))
                .as("kernels are used")
                .isTrue();

        Tensor expected = convolution.apply(x, w, b, activation);
        DType biasType = random.nextBoolean() ? DType.BF16 : DType.F32;
        Tensor bias = b == null ? null : b.to(biasType).to(maps.device());
        Tensor found = convolution.apply(maps, weight, bias, activation);
        assertThat(found.toDoubles()).containsExactly(expected.to(DType.BF16).toDoubles());

        Tensor g = SmallIntegers.draw(random, expected.shape());
        Tensor other = random.nextBoolean() ? SmallIntegers.draw(random, expected.shape()) : null;
        Convolution.Upstream upstream = Convolution.Upstream.of(g, other, expected, activation, true);
        boolean[] wanted = {false, true, true};
        Convolution.Gradients right = convolution.backward(upstream, new Convolution.Inputs(x, w), wanted);
        Convolution.Inputs inputs = new Convolution.Inputs(maps, weight);
        for (int i = 0; i < 2; i++) { // the same bits every time
            Convolution.Gradients gradients = convolution
                    .backwardOfFilters(there(g), other == null ? null : there(other), found, inputs, activation)
                    .orElseThrow();
            assertThat(Objects.requireNonNull(gradients.weight()).toDoubles())
                    .containsExactly(Objects.requireNonNull(right.weight())
                            .to(DType.BF16)
                            .toDoubles());
            assertThat(Objects.requireNonNull(gradients.bias()).toDoubles())
                    .containsExactly(Objects.requireNonNull(right.bias()).toDoubles());
        }
    }

    @RandomTest(times = 3)
    void nanStaysNan(Seed seed) {
        Gpu.required();
        Tensor maps = there(SmallIntegers.draw(seed.random(), Shape.of(2, 3, 9, 9)));
        maps.slice(0, 1, 2).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 3, 9, 9), DType.BF16, maps.device()));
        Tensor weight = there(SmallIntegers.draw(seed.random(), Shape.of(32, 3, 3, 3)));
        double[] found = new Convolution(1, 1, 1)
                .apply(maps, weight, null, Activation.RELU6)
                .toDoubles();
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("element %d", i).isEqualTo(i >= found.length / 2);
        }
    }
}
