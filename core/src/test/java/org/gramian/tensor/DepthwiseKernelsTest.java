package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Small integers, of which all sums are exact in BF16's products and float32's sums, so that only the last rounding remains. */
class DepthwiseKernelsTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Tensor there(Tensor tensor) {
        return tensor.to(DType.BF16).to(Gpu.required());
    }

    private static Tensor single(Tensor tensor) {
        return tensor.to(DType.F32).to(Gpu.required());
    }

    /** Few windows, since each is compiled for itself. */
    @RandomTest(times = 24)
    void convolutionsAndTheirGradientsAreThoseOfDoublePrecision(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        int window = 3 + random.nextInt(5);
        long channels = 4L * (2 + random.nextInt(90));
        Convolution convolution = new Convolution(1 + random.nextInt(2), window / 2, Math.toIntExact(channels));
        Shape shape =
                Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(17), 7L * (1 + random.nextInt(3)));
        Tensor x = SmallIntegers.draw(random, shape);
        Tensor w = SmallIntegers.draw(random, Shape.of(channels, 1, window, window));
        @Nullable Tensor b = random.nextBoolean() ? SmallIntegers.draw(random, Shape.of(channels)) : null;
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        Tensor maps = there(x).channelsLast();
        Tensor weight = single(w);
        assertThat(DepthwiseKernels.suit(maps, weight, convolution))
                .as("kernels are used")
                .isTrue();

        Tensor expected = convolution.apply(x, w, b, activation);
        Tensor found = convolution.apply(maps, weight, b == null ? null : single(b), activation);
        assertThat(found.toDoubles()).containsExactly(expected.to(DType.BF16).toDoubles());

        Tensor gradient = SmallIntegers.draw(random, expected.shape());
        boolean[] wanted = {true, true, true};
        Convolution.Gradients right = convolution.backward(gradient, x, w, wanted);
        Convolution.Gradients gradients = convolution.backward(there(gradient), maps, weight, wanted);
        assertThat(required(gradients.input()).toDoubles())
                .containsExactly(required(right.input()).to(DType.BF16).toDoubles());
        assertThat(required(gradients.weight()).toDoubles())
                .containsExactly(required(right.weight()).toDoubles());
        assertThat(required(gradients.bias()).shape()).isEqualTo(Shape.of(channels));
    }

    @RandomTest(times = 3)
    void nanStaysNan(Seed seed) {
        Gpu.required();
        Tensor maps = there(SmallIntegers.draw(seed.random(), Shape.of(1, 8, 5, 5)));
        maps.slice(1, 3, 4).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 1, 5, 5), DType.BF16, maps.device()));
        Tensor weight = single(SmallIntegers.draw(seed.random(), Shape.of(8, 1, 3, 3)));
        double[] found = new Convolution(1, 1, 8)
                .apply(maps.channelsLast(), weight, null, Activation.RELU6)
                .toDoubles();
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("element %d", i).isEqualTo(i / 25 == 3);
        }
    }

    private static Tensor required(@Nullable Tensor gradient) {
        if (gradient == null) {
            throw new AssertionError("a gradient was wanted and is missing");
        }
        return gradient;
    }
}
