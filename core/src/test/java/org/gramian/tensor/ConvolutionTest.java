package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class ConvolutionTest {
    /** A random convolution with an input and weights that fit it. */
    private record Case(Convolution geometry, Tensor input, Tensor weight, Tensor bias) {
        static Case of(SplittableRandom random) {
            int groups = 1 + random.nextInt(3);
            Convolution geometry = new Convolution(1 + random.nextInt(3), random.nextInt(3), groups);
            long perGroup = 1L + random.nextInt(3);
            long outputs = groups * (1L + random.nextInt(2));
            Shape input =
                    Shape.of(1 + random.nextInt(2), groups * perGroup, 3 + random.nextInt(4), 3 + random.nextInt(4));
            Shape weight = Shape.of(outputs, perGroup, 1 + random.nextInt(3), 1 + random.nextInt(3));
            return new Case(
                    geometry,
                    Tensors.gaussian(random, input, DType.F64),
                    Tensors.gaussian(random, weight, DType.F64),
                    Tensors.gaussian(random, Shape.of(outputs), DType.F64));
        }

        /** The definition: the sum over channels of the group and window, with zeros outside the maps. */
        Grid byLoops(@Nullable Tensor added) {
            Grid x = Grid.of(input);
            Grid w = Grid.of(weight);
            int stride = geometry.stride().vertical();
            long rows = (input.size(2) + 2L * geometry.padding().vertical() - weight.size(2)) / stride + 1;
            long columns = (input.size(3) + 2L * geometry.padding().vertical() - weight.size(3)) / stride + 1;
            int perGroup = (int) weight.size(1);
            int outputsPerGroup = (int) weight.size(0) / geometry.groups();
            double[] biases = added == null ? new double[(int) weight.size(0)] : added.toDoubles();
            return Grid.make(Shape.of(input.size(0), weight.size(0), rows, columns), place -> {
                double sum = biases[place[1]];
                int first = place[1] / outputsPerGroup * perGroup;
                for (int c = 0; c < perGroup; c++) {
                    for (int i = 0; i < weight.size(2); i++) {
                        for (int j = 0; j < weight.size(3); j++) {
                            int row = place[2] * stride + i - geometry.padding().vertical();
                            int column =
                                    place[3] * stride + j - geometry.padding().vertical();
                            sum += w.at(place[1], c, i, j) * x.atOrZero(place[0], first + c, row, column);
                        }
                    }
                }
                return sum;
            });
        }
    }

    @RandomTest(times = 30)
    void convolutionsAreTheirLoops(Seed seed) {
        Case c = Case.of(seed.random());
        assertTensor(c.geometry.apply(c.input, c.weight, c.bias)).as("%s", c).isCloseTo(c.byLoops(c.bias), 1e-13);
        assertTensor(c.geometry.apply(c.input, c.weight, null))
                .as("%s without bias", c)
                .isCloseTo(c.byLoops(null), 1e-13);
    }

    @Test
    void convolutionThatDoesNotFitNamesBothShapes() {
        Tensor input = Tensors.zeros(Shape.of(1, 4, 5, 5), DType.F32, Device.CPU);
        Tensor weight = Tensors.zeros(Shape.of(6, 3, 3, 3), DType.F32, Device.CPU);
        Tensor large = Tensors.zeros(Shape.of(6, 4, 9, 9), DType.F32, Device.CPU);
        Tensor doubles = Tensors.zeros(Shape.of(6, 4, 3, 3), DType.F64, Device.CPU);
        assertRejected(
                () -> Convolution.plain().apply(input, weight, null),
                "conv2d",
                "F32[1, 4, 5, 5]",
                "F32[6, 3, 3, 3]",
                "groups",
                "1");
        assertThatThrownBy(() -> Convolution.plain().apply(input, large, null))
                .has(facts("conv2d", "F32[1, 4, 5, 5]", "F32[6, 4, 9, 9]", "kernel"));
        assertThatThrownBy(() -> Convolution.plain().apply(input, doubles, null))
                .has(facts("F32", "F64"));
        assertThatThrownBy(() -> Convolution.plain().apply(input.reshape(4, 25), weight, null))
                .has(facts("conv2d", "4", "F32[4, 25]"));
        Tensor fitting = Tensors.zeros(Shape.of(6, 4, 3, 3), DType.F32, Device.CPU);
        Tensor bias = Tensors.zeros(Shape.of(5), DType.F32, Device.CPU);
        assertThatThrownBy(() -> Convolution.plain().apply(input, fitting, bias))
                .has(facts("F32[6, 4, 3, 3]", "F32[5]", "bias", "channel"));
        assertRejected(() -> new Convolution(0, 1, 1), "stride", "0");
    }

    /** On arm64 to the bit; elsewhere oneDNN may choose another algorithm for a larger batch. */
    @Test
    void mapsOfImageDoNotDependOnItsBatch() {
        SplittableRandom random = new SplittableRandom(6);
        Tensor input = Tensors.gaussian(random, Shape.of(16, 8, 20, 20), DType.F32);
        Tensor weight = Tensors.gaussian(random, Shape.of(12, 8, 3, 3), DType.F32);
        Tensor bias = Tensors.gaussian(random, Shape.of(12), DType.F32);
        Convolution geometry = new Convolution(1, 1, 1);
        Tensor whole = geometry.apply(input, weight, bias);
        Tensor first = geometry.apply(input.slice(0, 0, 8), weight, bias);
        double tolerance = System.getProperty("os.arch").equals("aarch64") ? 0 : 1e-4;
        assertTensor(whole.slice(0, 0, 8)).isCloseTo(first, tolerance);
    }
}
