package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.Epilogue;
import org.gramian.autodiff.FeatureMaps.Filters;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchNormTest {
    private static final BatchNorm NORM = new BatchNorm(1e-3, 0.25);

    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static BatchNorm.Statistics start() {
        return new BatchNorm.Statistics(
                Tensors.full(0.5, Shape.of(3), DType.F64, Device.CPU),
                Tensors.full(2, Shape.of(3), DType.F64, Device.CPU));
    }

    /** Mean and biased variance of each channel of {@code [n, 3, h, w]}, in plain loops. */
    private static double[][] moments(Grid x) {
        double count = x.shape().elements() / 3.0;
        double[] mean = new double[3];
        double[] variance = new double[3];
        Grid.make(x.shape(), p -> mean[p[1]] += x.at(p) / count);
        Grid.make(x.shape(), p -> variance[p[1]] += Math.pow(x.at(p) - mean[p[1]], 2) / count);
        return new double[][] {mean, variance};
    }

    @RandomTest
    void trainingNormalizesByTheBatchAndMovesTheRunningStatistics(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Shape.of(2, 3, 2, 2), DType.F64);
        Tensor gamma = Tensors.gaussian(random, Shape.of(3), DType.F64);
        Tensor beta = Tensors.gaussian(random, Shape.of(3), DType.F64);
        BatchNorm.Statistics running = start();
        Grid grid = Grid.of(x);
        double[][] moments = moments(grid);
        double[] g = gamma.toDoubles();
        double[] b = beta.toDoubles();
        try (Tape tape = Tape.inference()) {
            Var y = NORM.train(tape.constant(x), tape.constant(gamma), tape.constant(beta), running);
            assertTensor(y.value())
                    .isCloseTo(
                            Grid.make(
                                    x.shape(),
                                    p -> g[p[1]] * (grid.at(p) - moments[0][p[1]]) / Math.sqrt(moments[1][p[1]] + 1e-3)
                                            + b[p[1]]),
                            1e-13);
        }
        for (int c = 0; c < 3; c++) {
            assertThat(running.mean().toDoubles()[c])
                    .isCloseTo(0.75 * 0.5 + 0.25 * moments[0][c], Offset.offset(1e-14));
            double unbiased = moments[1][c] * 8 / 7;
            assertThat(running.variance().toDoubles()[c]).isCloseTo(0.75 * 2 + 0.25 * unbiased, Offset.offset(1e-14));
        }
    }

    @RandomTest
    void aSingleValuePerChannelTeachesTheStatisticsNothingAndIsNormalizedByThem(Seed seed) {
        Tensor x = seed.gaussian(1, 3);
        BatchNorm.Statistics running = start();
        try (Tape tape = Tape.recording()) {
            Var trained = tape.variable(x);
            Var gamma = tape.variable(seed.gaussian(3));
            Var beta = tape.variable(seed.gaussian(3));
            Var y = NORM.train(trained, gamma, beta, running);
            assertTensor(y.value())
                    .isCloseTo(NORM.predict(trained, gamma, beta, start()).value(), 1e-15);
            try (Gradients gradients = tape.backward(y, Tensors.full(1, y.shape(), DType.F64, Device.CPU))) {
                assertThat(gradients.of(trained).toDoubles()).doesNotContain(0);
            }
        }
        assertThat(running.mean().toDoubles()).containsOnly(0.5);
        assertThat(running.variance().toDoubles()).containsOnly(2);
    }

    @RandomTest
    void predictionUsesTheRunningStatisticsAndLeavesThemAlone(Seed seed) {
        Tensor x = seed.gaussian(2, 3);
        BatchNorm.Statistics running = start();
        Grid grid = Grid.of(x);
        try (Tape tape = Tape.inference()) {
            Var ones = tape.constant(Tensors.full(1, Shape.of(3), DType.F64, Device.CPU));
            Var zeros = tape.constant(Tensors.zeros(Shape.of(3), DType.F64, Device.CPU));
            Var y = NORM.predict(tape.constant(x), ones, zeros, running);
            assertTensor(y.value()).isCloseTo(Grid.make(x.shape(), p -> (grid.at(p) - 0.5) / Math.sqrt(2.001)), 1e-14);
        }
        assertThat(running.mean().toDoubles()).containsOnly(0.5);
        assertThat(running.variance().toDoubles()).containsOnly(2);
    }

    @RandomTest
    void foldedIntoAConvolutionItIsTheConvolutionAndThenTheNorm(Seed seed) {
        SplittableRandom random = seed.random();
        Convolution geometry = new Convolution(1 + random.nextInt(2), random.nextInt(2), 1);
        Tensor maps = Tensors.gaussian(random, Shape.of(2, 2, 5, 4), DType.F64);
        Tensor weights = Tensors.gaussian(random, Shape.of(3, 2, 3, 3), DType.F64);
        Tensor scales = Tensors.gaussian(random, Shape.of(3), DType.F64);
        Tensor offsets = Tensors.gaussian(random, Shape.of(3), DType.F64);
        BatchNorm.Statistics running = new BatchNorm.Statistics(
                Tensors.gaussian(random, Shape.of(3), DType.F64),
                Tensors.uniform(random, 0.1, 2, Shape.of(3), DType.F64));
        try (Tape tape = Tape.inference()) {
            Var x = tape.constant(maps);
            Var w = tape.constant(weights);
            Var gamma = tape.constant(scales);
            Var beta = tape.constant(offsets);
            Var plain = FeatureMaps.convolve(x, new Filters(w, null), geometry, Activation.NONE);
            Var folded = FeatureMaps.convolve(x, NORM.fold(w, gamma, beta, running), geometry, Activation.NONE);
            assertTensor(folded.value())
                    .isCloseTo(NORM.predict(plain, gamma, beta, running).value(), 1e-13);
        }
    }

    @RandomTest(times = 5)
    void theRunningStatisticsConvergeToThoseOfTheData(Seed seed) {
        Tensor x = seed.gaussian(8, 3);
        double[][] moments = moments(Grid.of(x));
        BatchNorm.Statistics running = start();
        try (Tape tape = Tape.inference()) {
            Var ones = tape.constant(Tensors.full(1, Shape.of(3), DType.F64, Device.CPU));
            for (int i = 0; i < 100; i++) {
                NORM.train(tape.constant(x), ones, ones, running);
            }
        }
        assertThat(running.mean().toDoubles()).containsExactly(moments[0], Offset.offset(1e-10));
    }

    @RandomTest(times = 5)
    void gradientsOfTrainingWithAnActivationAreCentralDifferences(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Shape.of(3, 3, 2, 2), DType.F64);
        Tensor gamma = Tensors.gaussian(random, Shape.of(3), DType.F64);
        Tensor beta = Tensors.gaussian(random, Shape.of(3), DType.F64);
        for (Activation activation : new Activation[] {Activation.NONE, Activation.SILU}) {
            GradientCheck check = GradientCheck.of(
                    inputs -> NORM.train(inputs.get(0), inputs.get(1), inputs.get(2), start(), activation));
            assertThat(check.check(x, gamma, beta).worst()).isLessThan(1e-6);
        }
    }

    @RandomTest(times = 3)
    void theFusedKernelsOfAGpuComputeTheSame(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Shape.of(4, 8, 5, 6), DType.F32);
        Tensor gamma = Tensors.gaussian(random, Shape.of(8), DType.F32);
        Tensor beta = Tensors.gaussian(random, Shape.of(8), DType.F32);
        Tensor upstream = Tensors.gaussian(random, x.shape(), DType.F32);
        for (DType type : new DType[] {DType.F32, DType.BF16}) {
            double tolerance = type == DType.F32 ? 1e-4 : 0.1;
            Tensor[] expected = trained(x, gamma, beta, upstream, DType.F32, Device.CPU);
            Tensor[] found = trained(x, gamma, beta, upstream, type, gpu);
            for (int i = 0; i < expected.length; i++) {
                assertTensor(found[i]).isCloseTo(expected[i], i < 2 ? tolerance : 10 * tolerance);
            }
        }
    }

    /** A mean far from 0 must not spoil the variance. */
    @RandomTest(times = 6)
    void theKernelsOfBfloat16AddAResidualAndComputeTheSame(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        long channels = 8L * (1 + random.nextInt(40));
        Shape shape = Shape.of(1 + random.nextInt(4), channels, 2 + random.nextInt(20), 1 + random.nextInt(20));
        Tensor gaussian = Tensors.gaussian(random, shape, DType.F32);
        Tensor x = gaussian.mul(0.5).add(20).to(DType.BF16);
        Tensor residual = Tensors.gaussian(random, shape, DType.F32).to(DType.BF16);
        Tensor upstream = Tensors.gaussian(random, shape, DType.F32).to(DType.BF16);
        Tensor gamma = Tensors.gaussian(random, Shape.of(channels), DType.F32);
        Tensor beta = Tensors.gaussian(random, Shape.of(channels), DType.F32);
        for (Activation activation : new Activation[] {Activation.NONE, Activation.RELU, Activation.RELU6}) {
            List<Tensor> expected = withResidual(List.of(x, gamma, beta, residual), upstream, activation, Device.CPU);
            List<Tensor> found = withResidual(List.of(x, gamma, beta, residual), upstream, activation, gpu);
            for (int i = 0; i < expected.size(); i++) {
                assertThat(norm(found.get(i).sub(expected.get(i))))
                        .as("%s, %d", activation, i)
                        .isLessThan(0.05 * norm(expected.get(i)) + 1e-3);
            }
        }
    }

    private static double norm(Tensor tensor) {
        return Math.sqrt(
                Arrays.stream(tensor.toDoubles()).map(each -> each * each).sum());
    }

    /** Returns the value, the gradients and the running statistics, in float32 on the CPU. */
    private static List<Tensor> withResidual(
            List<Tensor> inputs, Tensor upstream, Activation activation, Device device) {
        Shape perChannel = inputs.get(1).shape();
        BatchNorm.Statistics running = new BatchNorm.Statistics(
                Tensors.full(0.5, perChannel, DType.F32, device), Tensors.full(2, perChannel, DType.F32, device));
        try (Tape tape = Tape.recording()) {
            List<Var> all = inputs.stream()
                    .map(each -> tape.variable(each.to(device).forTensorCores()))
                    .toList();
            Var y = NORM.train(all.get(0), all.get(1), all.get(2), running, new Epilogue(all.get(3), activation, null));
            List<Tensor> found = new ArrayList<>(List.of(host(y.value())));
            try (Gradients gradients = tape.backward(y, upstream.to(device))) {
                all.forEach(variable -> found.add(host(gradients.of(variable))));
            }
            found.add(host(running.mean()));
            found.add(host(running.variance()));
            return found;
        }
    }

    /** Returns the value, dx, dγ, dβ and the running statistics, in float32 on the CPU. */
    private static Tensor[] trained(Tensor x, Tensor gamma, Tensor beta, Tensor upstream, DType type, Device device) {
        BatchNorm.Statistics running = new BatchNorm.Statistics(
                Tensors.full(0.5, Shape.of(8), DType.F32, device), Tensors.full(2, Shape.of(8), DType.F32, device));
        try (Tape tape = Tape.recording()) {
            Var maps = tape.variable(x.to(device).to(type));
            Var scale = tape.variable(gamma.to(device));
            Var offset = tape.variable(beta.to(device));
            Var y = NORM.train(maps, scale, offset, running, Activation.RELU);
            Tensor value = host(y.value());
            try (Gradients gradients = tape.backward(y, upstream.to(device).to(type))) {
                return new Tensor[] {
                    value,
                    host(gradients.of(maps)),
                    host(gradients.of(scale)),
                    host(gradients.of(offset)),
                    host(running.mean()),
                    host(running.variance())
                };
            }
        }
    }

    private static Tensor host(Tensor tensor) {
        return tensor.to(DType.F32).to(Device.CPU).copy();
    }

    @Test
    void scalesOfAnotherNumberOfChannelsAreRefused() {
        try (Tape tape = Tape.inference()) {
            Var x = tape.constant(Tensors.zeros(Shape.of(2, 4), DType.F64, Device.CPU));
            Var three = tape.constant(Tensors.zeros(Shape.of(3), DType.F64, Device.CPU));
            assertThatThrownBy(() -> NORM.train(x, three, three, start()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("batch norm")
                    .hasMessageContaining("F64[2, 4]")
                    .hasMessageContaining("F64[3]");
            Var filters = tape.constant(Tensors.zeros(Shape.of(4, 2, 3, 3), DType.F64, Device.CPU));
            assertThatThrownBy(() -> NORM.fold(filters, three, three, start()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("batch norm", "F64[4, 2, 3, 3]", "F64[3]");
        }
    }
}
