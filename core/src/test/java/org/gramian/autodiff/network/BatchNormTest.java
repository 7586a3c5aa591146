package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class BatchNormTest {
    private static final BatchNorm NORM = new BatchNorm(1e-3, 0.25);

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
    void trainingNormalizesByBatchAndMovesRunningStatistics(Seed seed) {
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
    void singleValuePerChannelLeavesStatisticsUnchanged(Seed seed) {
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
    void predictionUsesRunningStatisticsAndLeavesThemAlone(Seed seed) {
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
    void foldedIntoConvolutionItIsConvolutionAndThenNorm(Seed seed) {
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
            Var plain = FeatureMaps.convolve(x, w, null, geometry);
            BatchNorm.Folded filters = NORM.fold(w, gamma, beta, running);
            Var folded = FeatureMaps.convolve(x, filters.weight(), filters.bias(), geometry);
            assertTensor(folded.value())
                    .isCloseTo(NORM.predict(plain, gamma, beta, running).value(), 1e-13);
        }
    }

    @RandomTest(times = 3)
    void mapsInBfloat16AreNormalizedInFloat32(Seed seed) {
        Tensor x = seed.gaussian(3, 3, 2, 2).to(DType.BF16);
        Tensor gamma = seed.gaussian(3).to(DType.F32);
        Tensor mean = Tensors.full(0.5, Shape.of(3), DType.F32, Device.CPU);
        Tensor variance = Tensors.full(2, Shape.of(3), DType.F32, Device.CPU);
        try (Tape tape = Tape.recording()) {
            Var scale = tape.variable(gamma);
            BatchNorm.Statistics running = new BatchNorm.Statistics(mean, variance);
            Var exact = NORM.predict(tape.constant(x.to(DType.F32)), scale, scale, running);
            Var y = NORM.predict(tape.constant(x), scale, scale, running);
            assertTensor(y.value()).isIdenticalTo(exact.value().to(DType.BF16));
            Var trained = NORM.train(tape.constant(x), scale, scale, running);
            try (Gradients gradients = tape.backward(trained.sum())) {
                assertThat(gradients.of(scale).type()).isEqualTo(DType.F32);
            }
        }
    }

    @Test
    void scalesOfAnotherNumberOfChannelsAreRefused() {
        try (Tape tape = Tape.inference()) {
            Var x = tape.constant(Tensors.zeros(Shape.of(2, 4), DType.F64, Device.CPU));
            Var three = tape.constant(Tensors.zeros(Shape.of(3), DType.F64, Device.CPU));
            assertRejected(() -> NORM.train(x, three, three, start()), "batch norm", "F64[2, 4]", "F64[3]");
            Var filters = tape.constant(Tensors.zeros(Shape.of(4, 2, 3, 3), DType.F64, Device.CPU));
            assertThatThrownBy(() -> NORM.fold(filters, three, three, start()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("batch norm", "F64[4, 2, 3, 3]", "F64[3]");
        }
    }
}
