package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.AfterEach;

/** Filters rounded, folded and their gradients by the kernels, against tensor operators. */
class FilterKernelsTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Tensor gaussian(SplittableRandom random, Shape shape) {
        return Tensors.gaussian(random, shape, DType.F32).to(Gpu.required());
    }

    private static Shape shape(SplittableRandom random) {
        int size = 1 + random.nextInt(4);
        return Shape.of(1 + random.nextInt(40), 1 + random.nextInt(300), size, size);
    }

    @RandomTest(times = 20)
    void filtersAreRoundedToChannelsLastAndTheirGradientsWidened(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        Tensor weight = gaussian(random, shape(random));
        Tensor expected = weight.to(DType.BF16).channelsLast();
        assertThat(FilterKernels.suit(expected, weight)).as("kernels are used").isTrue();
        Tensor rounded = FilterKernels.rounded(weight);
        assertThat(rounded.strides()).containsExactly(weight.shape().channelsLastStrides());
        assertThat(rounded.toDoubles()).containsExactly(expected.toDoubles());
        Tensor widened = FilterKernels.widened(rounded);
        assertThat(widened.isContiguous()).isTrue();
        assertThat(widened.toDoubles()).containsExactly(expected.toDoubles());
    }

    @RandomTest(times = 20)
    void normsAreFoldedAndTheirGradientsAreThoseOfTheOperators(Seed seed) {
        Gpu.required();
        SplittableRandom random = seed.random();
        Tensor weight = gaussian(random, shape(random));
        Shape vector = Shape.of(weight.size(0));
        Tensor variance = Tensors.uniform(random, 0.1, 2, vector, DType.F32).to(weight.device());
        FixedNorm norm = new FixedNorm(
                gaussian(random, vector), gaussian(random, vector), gaussian(random, vector), variance, 1e-3);
        Tensor maps = Tensors.zeros(Shape.of(1, weight.size(1), 8, 8), DType.BF16, weight.device());
        Tensor exact = Tensors.zeros(maps.shape(), DType.F32, weight.device());
        Convolution convolution = Convolution.plain();

        Convolution.Prepared expected = norm.fold(weight, exact, convolution, DType.F32);
        for (DType biasType : new DType[] {DType.F32, DType.BF16}) {
            Convolution.Prepared found = norm.fold(weight, maps, convolution, biasType);
            assertThat(found.weight().type()).isEqualTo(DType.BF16);
            assertTensor(found.weight()).isCloseTo(expected.weight(), 5e-3);
            Tensor bias = Objects.requireNonNull(found.bias());
            assertThat(bias.type()).isEqualTo(biasType);
            assertTensor(bias).isCloseTo(Objects.requireNonNull(expected.bias()), biasType == DType.F32 ? 1e-5 : 5e-3);
        }

        Tensor rounded = gaussian(random, weight.shape()).to(DType.BF16).channelsLast();
        Tensor sums = gaussian(random, vector);
        FixedNorm.Gradients right = norm.backward(rounded.contiguous().to(DType.F32), sums, weight);
        FixedNorm.Gradients found = norm.backward(rounded, sums, weight);
        assertTensor(found.weight()).isCloseTo(right.weight(), 1e-5);
        assertTensor(found.gamma()).isCloseTo(right.gamma(), 1e-4);
        assertThat(found.beta().toDoubles()).containsExactly(sums.toDoubles());
        assertThat(norm.backward(rounded, sums, weight).gamma().toDoubles())
                .as("the same bits every time")
                .containsExactly(found.gamma().toDoubles());
    }
}
