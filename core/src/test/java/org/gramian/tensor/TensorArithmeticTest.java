package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class TensorArithmeticTest {
    /** A function of tensors and the same of single numbers. */
    private record Binary(BinaryOperator<Tensor> ofTensors, DoubleBinaryOperator ofNumbers) {}

    private record Unary(UnaryOperator<Tensor> ofTensors, DoubleUnaryOperator ofNumbers) {}

    private static final Map<String, Binary> BINARIES = Map.of(
            "add", new Binary(Tensor::add, Double::sum),
            "sub", new Binary(Tensor::sub, (a, b) -> a - b),
            "mul", new Binary(Tensor::mul, (a, b) -> a * b),
            "div", new Binary(Tensor::div, (a, b) -> a / b),
            "maximum", new Binary(Tensor::maximum, Math::max),
            "addScaled", new Binary((a, b) -> a.addScaled(b, -2.5), (a, b) -> a - 2.5 * b),
            "where", new Binary((a, b) -> Tensors.where(a.greater(b), a, b), Math::max));

    private static final Map<String, Unary> UNARIES = unaries();

    private static Map<String, Unary> unaries() {
        Map<String, Unary> unaries = new LinkedHashMap<>();
        unaries.put("exp", new Unary(Tensor::exp, Math::exp));
        unaries.put("log of abs", new Unary(x -> x.abs().log(), x -> Math.log(Math.abs(x))));
        unaries.put("sqrt of abs", new Unary(x -> x.abs().sqrt(), x -> Math.sqrt(Math.abs(x))));
        unaries.put("sign", new Unary(Tensor::sign, Math::signum));
        unaries.put("relu", new Unary(Tensor::relu, x -> Math.max(x, 0)));
        unaries.put("reciprocal", new Unary(Tensor::reciprocal, x -> 1 / x));
        unaries.put("add a number", new Unary(x -> x.add(0.7), x -> x + 0.7));
        unaries.put("mul by a number", new Unary(x -> x.mul(-0.7), x -> x * -0.7));
        unaries.put("cube", new Unary(x -> x.pow(3), x -> x * x * x));
        unaries.put("at least", new Unary(x -> x.atLeast(0.3), x -> Math.max(x, 0.3)));
        unaries.put("where", new Unary(x -> Tensors.where(x.greater(0.1), x, -9), x -> x > 0.1 ? x : -9));
        unaries.put("exp in place", new Unary(x -> x.copy().expInPlace(), Math::exp));
        unaries.put("relu in place", new Unary(x -> x.copy().reluInPlace(), x -> Math.max(x, 0)));
        unaries.put("mul in place", new Unary(x -> x.copy().mulInPlace(3), x -> 3 * x));
        return unaries;
    }

    /** Two shapes that broadcast: sizes of either set to 1, and leading dimensions of one left out. */
    private static Shape thinned(SplittableRandom random, Shape shape) {
        int drop = random.nextInt(shape.rank() + 1);
        long[] sizes = new long[shape.rank() - drop];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = random.nextBoolean() ? 1 : shape.at(i + drop);
        }
        return Shape.of(sizes);
    }

    @RandomTest(times = 40)
    void binaryFunctionsBroadcastAsTheirLoopsDo(Seed seed) {
        SplittableRandom random = seed.random();
        Shape shape = Grid.randomShape(random, 1 + random.nextInt(4));
        Tensor a = Tensors.gaussian(random, shape, DType.F64);
        Tensor b = Tensors.gaussian(random, thinned(random, shape), DType.F64);
        BINARIES.forEach((name, function) -> {
            Grid left = Grid.of(a);
            Grid right = Grid.of(b);
            assertTensor(function.ofTensors().apply(a, b))
                    .as(name)
                    .isCloseTo(
                            Grid.make(
                                    shape,
                                    place -> function.ofNumbers()
                                            .applyAsDouble(left.at(place), right.broadcastAt(place))),
                            1e-15);
            assertTensor(function.ofTensors().apply(b, a))
                    .as(name + ", exchanged")
                    .isCloseTo(
                            Grid.make(
                                    shape,
                                    place -> function.ofNumbers()
                                            .applyAsDouble(right.broadcastAt(place), left.at(place))),
                            1e-15);
        });
    }

    @RandomTest
    void unaryFunctionsAreTheirLoopsOnTransposedTensorsToo(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x =
                Tensors.gaussian(random, Grid.randomShape(random, 3), DType.F64).transpose(0, 2);
        Grid grid = Grid.of(x);
        UNARIES.forEach((name, function) -> assertTensor(function.ofTensors().apply(x))
                .as(name)
                .isCloseTo(Grid.make(x.shape(), place -> function.ofNumbers().applyAsDouble(grid.at(place))), 1e-14));
    }

    @RandomTest
    void softmaxRowsAreProbabilitiesAndItsLogarithmAgrees(Seed seed) {
        Tensor x = seed.gaussian(3, 4).mul(5);
        Grid grid = Grid.of(x);
        Grid expected = Grid.make(x.shape(), place -> {
            double sum = 0;
            for (int j = 0; j < 4; j++) {
                sum += Math.exp(grid.at(place[0], j));
            }
            return Math.exp(grid.at(place)) / sum;
        });
        assertTensor(x.softmax()).isCloseTo(expected, 1e-14);
        assertTensor(x.logSoftmax().exp()).isCloseTo(expected, 1e-13);
    }

    @Test
    void softmaxOfHugeScoresStaysFinite() {
        Tensor x = Tensors.of(new double[] {1e30, 0, -1e30}, Shape.of(1, 3), DType.F32);
        assertThat(x.softmax().toDoubles()).containsExactly(1, 0, 0);
        assertThat(x.logSoftmax().allFinite()).isTrue();
    }

    @Test
    void inPlaceFunctionsChangeTheirArgument() {
        Tensor x = Tensors.of(new double[] {4, 9}, Shape.of(2), DType.F64);
        assertThat(x.sqrtInPlace()).isSameAs(x);
        assertThat(x.toDoubles()).containsExactly(2, 3);
        x.mulInPlace(Tensors.of(new double[] {10, 100}, Shape.of(2), DType.F64));
        assertThat(x.toDoubles()).containsExactly(20, 300);
    }

    @Test
    void reluInPlaceRewritesLargeAndStridedTensors() {
        long large = (1 << 19) + 3; // more than one chunk
        Tensor x = Tensors.gaussian(new SplittableRandom(1), Shape.of(large), DType.F32);
        Tensor expected = x.add(x.abs()).mul(0.5);
        assertThat(x.reluInPlace()).isSameAs(x);
        assertThat(x.sub(expected).largestMagnitude()).isZero();

        Tensor matrix = Tensors.of(new double[] {-1, -2, 3, -4, 5, -6}, Shape.of(2, 3), DType.F64);
        matrix.slice(1, 1, 3).reluInPlace();
        assertThat(matrix.sub(Tensors.of(new double[] {-1, 0, 3, -4, 5, 0}, Shape.of(2, 3), DType.F64))
                        .largestMagnitude())
                .isZero();
    }

    @Test
    void relu6InPlaceIsExactBetweenItsBounds() {
        double[] values = {-7, -1e-30, 0, 1e-30, 0.1f, 3, 5.999999f, 6, 6.000001f, 11, 1e6, Double.NaN};
        double[] expected = {0, 0, 0, 1e-30, 0.1f, 3, 5.999999f, 6, 6, 6, 6, Double.NaN};
        for (DType type : List.of(DType.F32, DType.F64)) {
            double[] found =
                    Tensors.of(values, Shape.of(3, 4), type).relu6InPlace().toDoubles();
            for (int i = 0; i < values.length; i++) {
                double tolerance = expected[i] < 6 ? Math.abs(expected[i]) * type.epsilon() : 0.1;
                assertThat(found[i]).as("relu6(%s)", values[i]).isCloseTo(expected[i], within(tolerance));
            }
        }
    }

    @Test
    void reluAndItsGradientKeepNaN() {
        Tensor x = Tensors.of(new double[] {Double.NaN, -1, 2}, Shape.of(3), DType.F32);
        assertThat(x.relu().toDoubles()[0]).isNaN();
        assertThat(x.copy().reluInPlace().toDoubles()[0]).isNaN();
        Tensor y = Tensors.of(new double[] {0, 1, 2, 0, 3, -0.0}, Shape.of(6), DType.F32);
        double infinity = Double.POSITIVE_INFINITY;
        Tensor g = Tensors.of(new double[] {7, Double.NaN, 9, infinity, infinity, 5}, Shape.of(6), DType.F32);
        assertThat(g.reluBackward(y).toDoubles())
                .containsExactly(new double[] {0, Double.NaN, 9, Double.NaN, infinity, 0}, within(0.0));
    }
}
