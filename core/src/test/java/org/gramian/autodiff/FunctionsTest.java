package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.network.Classification;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.FeatureMaps.ResponseNorm;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Grid;
import org.gramian.testing.LeakFree;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Values of the differentiable functions against their formulas in plain Java, and gradients at kinks. */
@ExtendWith(LeakFree.class)
@ExtendWith(Scoped.class)
class FunctionsTest {
    private static Tensor row(double... values) {
        return Tensors.of(values, Shape.of(values.length), DType.F64);
    }

    private static Tensor gradientOfSum(UnaryOperator<Var> function, Tensor x) {
        try (Tape tape = Tape.recording()) {
            Var variable = tape.variable(x);
            try (Gradients gradients = tape.backward(function.apply(variable).sum())) {
                return gradients.of(variable).copy();
            }
        }
    }

    private static Tensor value(UnaryOperator<Var> function, Tensor x) {
        try (Tape tape = Tape.inference()) {
            return function.apply(tape.constant(x)).value().copy();
        }
    }

    @Test
    void smoothActivationsAreTheirFormulas() {
        DoubleUnaryOperator sigmoid = x -> 1 / (1 + Math.exp(-x));
        DoubleUnaryOperator hard = x -> Math.clamp(x + 3, 0.0, 6.0) / 6;
        DoubleUnaryOperator inside = x -> Math.abs(x) < 3 ? 1 : 0;
        requireFormula(Activation.SIGMOID, sigmoid, x -> sigmoid.applyAsDouble(x) * sigmoid.applyAsDouble(-x));
        requireFormula(Activation.HARD_SIGMOID, hard, x -> inside.applyAsDouble(x) / 6);
        requireFormula(
                Activation.SILU,
                x -> x * sigmoid.applyAsDouble(x),
                x -> sigmoid.applyAsDouble(x) * (1 + x * sigmoid.applyAsDouble(-x)));
        requireFormula(
                Activation.HARD_SWISH,
                x -> x * hard.applyAsDouble(x),
                x -> hard.applyAsDouble(x) + x * inside.applyAsDouble(x) / 6);
    }

    /** Alone and in one node with a convolution. */
    private static void requireFormula(Activation activation, DoubleUnaryOperator f, DoubleUnaryOperator derivative) {
        double[] points = {-40, -4, -1, 0, 0.5, 2.9, 5, 40};
        double[] values = Arrays.stream(points).map(f).toArray();
        double[] slopes = Arrays.stream(points).map(derivative).toArray();
        Offset<Double> rounding = Offset.offset(1e-15);
        UnaryOperator<Var> function = v -> v.activate(activation);
        assertThat(value(function, row(points)).toDoubles()).containsExactly(values, rounding);
        assertThat(gradientOfSum(function, row(points)).toDoubles()).containsExactly(slopes, rounding);
    }

    @Test
    void derivativeOfRelu6AtKinksIsZero() {
        Tensor x = row(-1, 0, 1e-300, 3, Math.nextDown(6.0), 6, 7);
        assertThat(value(v -> v.activate(Activation.RELU6), x).toDoubles())
                .containsExactly(0, 0, 1e-300, 3, Math.nextDown(6.0), 6, 6);
        assertThat(gradientOfSum(v -> v.activate(Activation.RELU6), x).toDoubles())
                .containsExactly(0, 0, 1, 1, 1, 0, 0);
        assertThat(gradientOfSum(v -> v.activate(Activation.RELU), x).toDoubles())
                .containsExactly(0, 0, 1, 1, 1, 1, 1);
        assertThat(gradientOfSum(v -> v.activate(Activation.NONE), x).toDoubles())
                .containsOnly(1);
    }

    @RandomTest(times = 5)
    void crossEntropyIsItsFormulaForHardAndSoftTargets(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor scores = Tensors.gaussian(random, Shape.of(4, 3), DType.F64).mul(3);
        Tensor hard = Classification.oneHot(random.longs(4, 0, 3).toArray(), 3, DType.F64);
        Tensor soft = Tensors.uniform(random, 0, 1, Shape.of(4, 3), DType.F64); // rows need not sum to 1
        for (Tensor targets : new Tensor[] {hard, soft}) {
            assertThat(value(v -> Classification.crossEntropy(v, targets), scores)
                            .item())
                    .isCloseTo(crossEntropy(Grid.of(scores), Grid.of(targets)), Offset.offset(1e-13));
            assertThat(GradientCheck.of(v -> Classification.crossEntropy(v.getFirst(), targets))
                            .check(scores)
                            .worst())
                    .isLessThan(1e-8);
        }
    }

    private static double crossEntropy(Grid scores, Grid targets) {
        double loss = 0;
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int j = 0; j < 3; j++) {
                sum += Math.exp(scores.at(i, j));
            }
            for (int j = 0; j < 3; j++) {
                loss -= targets.at(i, j) * (scores.at(i, j) - Math.log(sum)) / 4;
            }
        }
        return loss;
    }

    @Test
    void crossEntropyRejectsWrongTargetsAndLabels() {
        try (Tape tape = Tape.inference()) {
            Var scores = tape.constant(Tensors.zeros(Shape.of(2, 3), DType.F64, Device.CPU));
            Tensor targets = Tensors.zeros(Shape.of(2, 4), DType.F64, Device.CPU);
            assertRejected(() -> Classification.crossEntropy(scores, targets), "F64[2, 3]", "F64[2, 4]");
        }
        assertRejected(() -> Classification.oneHot(new long[] {0, 3}, 3, DType.F64), "0", "2", "3", "1");
        assertThatThrownBy(() -> Classification.oneHot(new long[] {-1}, 3, DType.F64))
                .has(facts("-1"));
    }

    /** Caffe: {@code x / (k + α/n Σ x²)^β} over n neighbouring channels, those beyond the ends being zero. */
    @RandomTest
    void localResponseNormIsCaffesLoop(Seed seed) {
        SplittableRandom random = seed.random();
        ResponseNorm norm = new ResponseNorm(1 + 2 * random.nextInt(3), 0.7, 0.75, 1 + random.nextInt(2));
        Tensor x = Tensors.gaussian(random, Shape.of(2, 6, 2, 3), DType.F64);
        Grid grid = Grid.of(x);
        int half = norm.size() / 2;
        Grid expected = Grid.make(x.shape(), p -> {
            double sum = 0;
            for (int c = p[1] - half; c <= p[1] + half; c++) {
                double neighbour = grid.atOrZero(p[0], c, p[2], p[3]);
                sum += neighbour * neighbour;
            }
            return grid.at(p) / Math.pow(norm.k() + norm.alpha() / norm.size() * sum, norm.beta());
        });
        assertTensor(value(v -> FeatureMaps.localResponseNorm(v, norm), x)).isCloseTo(expected, 1e-14);
    }

    /** The first layer of a network: images are constants, weights are not. */
    @Test
    void convolutionOfConstantStillHasGradientsOfItsWeights() {
        try (Tape tape = Tape.recording()) {
            Var image = tape.constant(Tensors.full(2, Shape.of(1, 1, 3, 3), DType.F64, Device.CPU));
            Var weight = tape.variable(Tensors.full(1, Shape.of(1, 1, 2, 2), DType.F64, Device.CPU));
            Var bias = tape.variable(row(0.5));
            Var y = FeatureMaps.convolve(image, weight, bias, Convolution.plain());
            try (Gradients gradients = tape.backward(y.sum())) {
                assertThat(gradients.of(weight).toDoubles()).containsOnly(8);
                assertThat(gradients.of(bias).item()).isEqualTo(4);
                assertThat(gradients.has(image)).isFalse();
            }
        }
    }

    @RandomTest
    void linearIsItsLoop(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Shape.of(3, 4), DType.F64);
        Tensor w = Tensors.gaussian(random, Shape.of(2, 4), DType.F64);
        Tensor b = Tensors.gaussian(random, Shape.of(2), DType.F64);
        Grid gx = Grid.of(x);
        Grid gw = Grid.of(w);
        Grid gb = Grid.of(b);
        Grid expected = Grid.make(Shape.of(3, 2), p -> {
            double sum = gb.at(p[1]);
            for (int k = 0; k < 4; k++) {
                sum += gx.at(p[0], k) * gw.at(p[1], k);
            }
            return sum;
        });
        assertTensor(value(v -> v.linear(v.tape().constant(w), v.tape().constant(b)), x))
                .isCloseTo(expected, 1e-14);
    }
}
