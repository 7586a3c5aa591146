package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.SingleThreaded;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RelativeError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(SingleThreaded.class)
class AdamWTest {
    private static final double RATE = 0.05;
    private static final double DECAY = 0.1;

    private static AdamW options(double rate, double multiplier, Metric metric, Retraction retraction) {
        return new AdamW(rate, 0.9, 0.999, DECAY, new StiefelOptions(multiplier, metric, retraction));
    }

    private static Parameter parameter(Role role, Tensor value) {
        return new Parameter(new ParameterSpec("p", value.shape(), role, Tensors::gaussian), value);
    }

    private static Parameter stiefel(SplittableRandom random, int rows, int columns, DType type) {
        return parameter(Role.STIEFEL, Stiefel.random(random, Shape.of(rows, columns), type));
    }

    /** Computed with 40 decimal digits from the formulas of Loshchilov and Hutter's Algorithm 2. */
    @Test
    void threeStepsMatchTheGoldenValues() {
        double[] gradients = {0.5, -0.25, 2};
        double[] golden = {0.890000002, 0.854466298687846, 0.778856871522274};
        try (Scope _ = Scope.open();
                Parameter weight = parameter(Role.WEIGHT, Tensors.of(new double[] {1}, Shape.of(1), DType.F64));
                Optimizer adamW = new Optimizer(new AdamW(0.1, 0.9, 0.999, 0.1, StiefelOptions.defaults()))) {
            for (int step = 0; step < 3; step++) {
                adamW.step(weight, Tensors.of(new double[] {gradients[step]}, Shape.of(1), DType.F64));
                assertThat(weight.value().item()).as("step %d", step).isCloseTo(golden[step], within(1e-14));
            }
            assertThat(adamW.steps()).isEqualTo(3);
        }
    }

    static Stream<OptimizerRule> rules() {
        return Stream.of(
                options(RATE, 10, Metric.CANONICAL, Retraction.QR),
                new Sgd(RATE, 0.9, DECAY, StiefelOptions.defaults()));
    }

    @ParameterizedTest
    @MethodSource("rules")
    void weightDecayAppliesToWeightsOnly(OptimizerRule rule) {
        SplittableRandom random = new SplittableRandom(2);
        try (Scope _ = Scope.open();
                Parameter weight = parameter(Role.WEIGHT, Tensors.gaussian(random, Shape.of(2, 3), DType.F64));
                Parameter bias = parameter(Role.BIAS, Tensors.gaussian(random, Shape.of(2, 3), DType.F64));
                Parameter w = stiefel(random, 4, 2, DType.F64);
                Optimizer optimizer = new Optimizer(rule)) {
            double[] shrunk = Arrays.stream(weight.value().toDoubles())
                    .map(x -> x * (1 - RATE * DECAY))
                    .toArray();
            double[] before = bias.value().toDoubles();
            double[] turned = w.value().toDoubles();
            for (Parameter parameter : new Parameter[] {weight, bias, w}) {
                optimizer.step(parameter, Tensors.zeros(parameter.value().shape(), DType.F64, Device.CPU));
            }
            assertThat(weight.value().toDoubles()).containsExactly(shrunk, within(1e-15));
            assertThat(bias.value().toDoubles()).containsExactly(before);
            assertThat(w.value().toDoubles()).containsExactly(turned, within(1e-15));
        }
    }

    /** Adam's steps do not depend on the scale of the loss, but for ε. */
    @ParameterizedTest
    @ValueSource(doubles = {1e-3, 1e4})
    void scaleOfTheLossDoesNotChangeSteps(double scale) {
        SplittableRandom random = new SplittableRandom(3);
        try (Scope _ = Scope.open();
                Parameter bias = parameter(Role.BIAS, Tensors.gaussian(random, Shape.of(2, 3), DType.F64));
                Parameter scaledBias = parameter(Role.BIAS, bias.value().copy());
                Parameter w = stiefel(random, 9, 4, DType.F64);
                Parameter scaledW = parameter(Role.STIEFEL, w.value().copy());
                Optimizer plain = new Optimizer(options(0.01, 5, Metric.CANONICAL, Retraction.QR));
                Optimizer scaled = new Optimizer(options(0.01, 5, Metric.CANONICAL, Retraction.QR))) {
            for (int step = 0; step < 20; step++) {
                Tensor ofBias = Tensors.gaussian(random, Shape.of(2, 3), DType.F64);
                Tensor ofW = Tensors.gaussian(random, Shape.of(9, 4), DType.F64);
                plain.step(bias, ofBias);
                plain.step(w, ofW);
                scaled.step(scaledBias, ofBias.mul(scale));
                scaled.step(scaledW, ofW.mul(scale));
            }
            assertThat(RelativeError.of(scaledBias.value(), bias.value())).isLessThan(1e-4);
            assertThat(RelativeError.of(scaledW.value(), w.value())).isLessThan(1e-5);
        }
    }

    /** The first moment lies in the tangent space of the point where it was computed, for every metric. */
    @ParameterizedTest
    @EnumSource
    void firstMomentIsTangentAndSecondIsScalar(Metric metric) {
        SplittableRandom random = new SplittableRandom(4);
        try (Scope _ = Scope.open();
                Parameter w = stiefel(random, 7, 3, DType.F64);
                Optimizer adamW = new Optimizer(options(0.01, 10, metric, Retraction.QR))) {
            double second = 0;
            for (int step = 0; step < 10; step++) {
                Tensor point = w.value().copy();
                Tensor gradient = Tensors.gaussian(random, Shape.of(7, 3), DType.F64);
                Tensor riemannian = Stiefel.gradient(point, gradient, metric);
                adamW.step(w, gradient);
                Tensor first = Objects.requireNonNull(adamW.state(w, AdamW.FIRST_MOMENT));
                assertThat(RelativeError.of(Stiefel.project(point, first), first))
                        .as("step %d", step)
                        .isLessThan(1e-14);
                second = 0.999 * second
                        + 0.001 * riemannian.mul(riemannian).sum().item();
                assertThat(Objects.requireNonNull(adamW.state(w, AdamW.SECOND_MOMENT))
                                .item())
                        .isCloseTo(second, within(1e-13));
            }
        }
    }

    /** On the circle, a flat manifold, Riemannian Adam is Adam of the angle, up to the second order of a step's length. */
    @Test
    void onTheCircleItEqualsAdamOfTheAngle() {
        double rate = 1e-4;
        SplittableRandom random = new SplittableRandom(6);
        double angle = 0.3;
        try (Scope _ = Scope.open();
                Parameter w = parameter(
                        Role.STIEFEL,
                        Tensors.of(new double[] {Math.cos(angle), Math.sin(angle)}, Shape.of(2, 1), DType.F64));
                Parameter theta = parameter(Role.BIAS, Tensors.of(new double[] {angle}, Shape.of(1), DType.F64));
                Optimizer onCircle = new Optimizer(options(rate, 1, Metric.EUCLIDEAN, Retraction.QR));
                Optimizer ofAngle = new Optimizer(options(rate, 1, Metric.EUCLIDEAN, Retraction.QR))) {
            for (int step = 0; step < 200; step++) {
                double[] g = random.doubles(2, -1, 2).toArray();
                double now = theta.value().item();
                double slope = -g[0] * Math.sin(now) + g[1] * Math.cos(now);
                onCircle.step(w, Tensors.of(g, Shape.of(2, 1), DType.F64));
                ofAngle.step(theta, Tensors.of(new double[] {slope}, Shape.of(1), DType.F64));
            }
            double[] point = w.value().toDoubles();
            double reached = theta.value().item();
            assertThat(Math.abs(reached - angle)).as("it moves").isGreaterThan(20 * rate);
            assertThat(Math.atan2(point[1], point[0])).isCloseTo(reached, within(1e-6));
        }
    }

    @Test
    void constantRateTakesPlainRiemannianSteps() {
        StiefelOptions constant = new StiefelOptions(1, Metric.EUCLIDEAN, Retraction.QR, Optional.of(0.01));
        SplittableRandom random = new SplittableRandom(9);
        try (Scope _ = Scope.open();
                Parameter w = stiefel(random, 6, 2, DType.F64);
                Parameter twin = parameter(Role.STIEFEL, w.value().copy());
                Optimizer adamW = new Optimizer(new AdamW(5, 0.9, 0.999, 0, constant));
                Optimizer sgd = new Optimizer(new Sgd(5, 0.9, 0, constant))) {
            for (int step = 0; step < 3; step++) {
                Tensor gradient = Tensors.gaussian(random, Shape.of(6, 2), DType.F64);
                adamW.step(w, gradient);
                sgd.step(twin, gradient);
            }
            assertThat(w.value().toDoubles()).containsExactly(twin.value().toDoubles());
            assertThat(adamW.state(w)).isEmpty();
        }
    }
}
