package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.Reduction;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;

/** Kernels of our own against the operators on the processor in double precision. */
class GpuKernelsTest {
    /** Values and gradients of a function on a device. */
    private static List<double[]> both(UnaryOperator<Var> function, Tensor x, Tensor upstream) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var input = tape.variable(x);
            Var output = function.apply(input);
            List<double[]> all = new ArrayList<>(List.of(output.value().toDoubles()));
            try (Gradients gradients = tape.backward(output, upstream)) {
                all.add(gradients.of(input).toDoubles());
            }
            return all;
        }
    }

    private static void requireSame(UnaryOperator<Var> function, Tensor x, Tensor upstream, double tolerance) {
        List<double[]> exact = both(function, x, upstream);
        Tensor single = Tensors.to(Tensors.to(x, DType.F32), Gpu.required());
        assertThat(CudaProgram.suits(single)).as("kernels are at hand").isTrue();
        List<double[]> found = both(function, single, Tensors.to(Tensors.to(upstream, DType.F32), Gpu.required()));
        for (int k = 0; k < 2; k++) {
            double largest = 0;
            double difference = 0;
            for (int i = 0; i < exact.get(k).length; i++) {
                largest = Math.max(largest, Math.abs(exact.get(k)[i]));
                difference = Math.max(difference, Math.abs(exact.get(k)[i] - found.get(k)[i]));
            }
            assertThat(difference).as(k == 0 ? "value" : "gradient").isLessThan(tolerance * largest);
        }
    }

    @RandomTest(times = 6)
    void theGaussianKernelIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            long[] channels = {2, 7, 32, 33, 100};
            for (long c : channels) {
                Tensor maps = Tensors.uniform(seed.random(), 0, 1, Shape.of(3, c, 41), DType.F64);
                Tensor upstream = Tensors.gaussian(seed.random(), Shape.of(3, c, c), DType.F64);
                for (Sigma sigma : List.of(new Sigma.Mean(), new Sigma.Fixed(2.5))) {
                    Rbf rbf = new Rbf(sigma, 1e-4);
                    requireSame(x -> rbf.apply(x, Bindings.of(Map.of())), maps, upstream, 2e-5);
                }
            }
        }
    }

    @RandomTest(times = 3)
    void equalMapsAreAtDistanceZero(Seed seed) {
        Gpu.required();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor half = Tensors.uniform(seed.random(), 0, 1000, Shape.of(2, 16, 50), DType.F32);
            Tensor maps = Tensors.to(Views.concat(List.of(half, half), 1), Gpu.required());
            Tensor k = new Rbf(new Sigma.Mean(), 0)
                    .apply(tape.constant(maps), Bindings.of(Map.of()))
                    .value();
            double[] values = k.toDoubles();
            for (int i = 0; i < 16; i++) {
                assertThat(values[i * 32 + i + 16])
                        .as("maps %d and %d", i, i + 16)
                        .isEqualTo(1);
            }
        }
    }

    @RandomTest(times = 6)
    void rootsOfUnitLengthAreThoseOfTheOperators(Seed seed) {
        Gpu.required();
        Pooling ends = Pooling.parse("bilinear/triu/root/l2");
        try (Scope _ = Scope.open()) {
            for (long c : new long[] {2, 5, 32, 65}) {
                // products of either sign, none near 0, where the root is so steep that rounding decides
                Tensor signs = Elementwise.sign(Tensors.gaussian(seed.random(), Shape.of(2, c, 1, 1), DType.F64));
                Tensor maps =
                        Elementwise.mul(Tensors.uniform(seed.random(), 0.2, 1, Shape.of(2, c, 3, 3), DType.F64), signs);
                Tensor upstream = Tensors.gaussian(seed.random(), Shape.of(2, c * (c + 1) / 2), DType.F64);
                requireSame(x -> ends.apply(x, Bindings.of(Map.of())), maps, upstream, 2e-4);
            }
        }
    }

    /** Channels and positions on both sides of the width of a warp, and more maps than a block takes. */
    @RandomTest(times = 3)
    void theConvolutionIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        for (long[] sizes : new long[][] {{1, 3, 2, 1}, {3, 7, 5, 49}, {2, 64, 33, 31}, {5, 16, 40, 196}}) {
            try (Scope _ = Scope.open()) {
                Shape maps = Shape.of(sizes[0], sizes[1], sizes[3]);
                List<Tensor> inputs = List.of(
                        Tensors.gaussian(seed.random(), maps, DType.F64),
                        Tensors.gaussian(seed.random(), Shape.of(sizes[2], sizes[1], 1, 1), DType.F64),
                        Tensors.gaussian(seed.random(), Shape.of(sizes[2]), DType.F64));
                Tensor upstream = Tensors.gaussian(seed.random(), maps.with(1, sizes[2]), DType.F64);
                List<double[]> exact = convolution(inputs, upstream);
                List<double[]> found =
                        convolution(inputs.stream().map(GpuKernelsTest::onGpu).toList(), onGpu(upstream));
                for (int k = 0; k < exact.size(); k++) {
                    assertThat(RelativeError.ofNorm(found.get(k), exact.get(k)))
                            .as(List.of("value", "gradient of maps", "of weight", "of bias")
                                    .get(k))
                            .isLessThan(1e-5);
                }
            }
        }
    }

    private static Tensor onGpu(Tensor x) {
        return Tensors.to(Tensors.to(x, DType.F32), Gpu.required());
    }

    private static List<double[]> convolution(List<Tensor> inputs, Tensor upstream) {
        Reduction convolution = new Reduction.Conv((int) inputs.get(1).size(0));
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            List<Var> variables = inputs.stream().map(tape::variable).toList();
            Var output = convolution.apply(
                    variables.get(0), Bindings.of(Map.of("weight", variables.get(1), "bias", variables.get(2))));
            List<double[]> all = new ArrayList<>(List.of(output.value().toDoubles()));
            try (Gradients gradients = tape.backward(output, upstream)) {
                variables.forEach(each -> all.add(gradients.of(each).toDoubles()));
            }
            return all;
        }
    }

    @RandomTest(times = 3)
    void theGradientOfAReluIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            for (DType type : List.of(DType.F32, DType.BF16)) {
                Tensor y = Tensors.to(
                        Elementwise.relu(Tensors.gaussian(seed.random(), Shape.of(3, 8, 5, 4), DType.F32)), type);
                Tensor g = Tensors.to(Tensors.gaussian(seed.random(), Shape.of(3, 8, 5, 4), DType.F32), type);
                // the CPU has −0 where the kernel has 0
                double[] expected = Arrays.stream(Elementwise.reluBackward(g, y).toDoubles())
                        .map(value -> value + 0.0)
                        .toArray();
                Tensor there = Tensors.to(y, Gpu.required());
                Tensor upstream = Tensors.to(g, Gpu.required());
                assertThat(Elementwise.reluBackward(upstream, there).toDoubles())
                        .containsExactly(expected);
                assertThat(Elementwise.reluBackward(Views.channelsLast(upstream), Views.channelsLast(there))
                                .toDoubles())
                        .containsExactly(expected);
                assertThat(Elementwise.reluBackward(upstream, Views.channelsLast(there))
                                .toDoubles())
                        .containsExactly(expected);
            }
        }
    }

    @RandomTest(times = 3)
    void theGradientOfARelu6IsThatOfTheOperators(Seed seed) {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            for (DType type : List.of(DType.F32, DType.BF16)) {
                Tensor wide = Elementwise.mul(Tensors.gaussian(seed.random(), Shape.of(3, 8, 5, 4), DType.F32), 6);
                Tensor y = Tensors.to(Elementwise.relu6InPlace(wide), type);
                Tensor g = Tensors.to(Tensors.gaussian(seed.random(), Shape.of(3, 8, 5, 4), DType.F32), type);
                double[] expected = Arrays.stream(
                                Elementwise.relu6Backward(g, y).toDoubles())
                        .map(value -> value + 0.0) // operators leave some zeros negative
                        .toArray();
                Tensor there = Tensors.to(y, Gpu.required());
                Tensor upstream = Tensors.to(g, Gpu.required());
                assertThat(Elementwise.relu6Backward(upstream, there).toDoubles())
                        .containsExactly(expected);
            }
        }
    }
}
