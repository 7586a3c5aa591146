package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.FullResults;
import org.gramian.spd.SingleThreaded;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RelativeError;
import org.gramian.train.Sgd.StiefelStep;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(SingleThreaded.class)
class StiefelStepTest {
    static Stream<Arguments> metricsAndRetractions() {
        return Stream.of(Metric.values())
                .flatMap(metric -> Stream.of(Retraction.values()).map(retraction -> Arguments.of(metric, retraction)));
    }

    @ParameterizedTest
    @MethodSource("metricsAndRetractions")
    void momentumIsTangentWhereItIsUsed(Metric metric, Retraction retraction) {
        Sgd options = new Sgd(0.1, 0.9, 0.01, new StiefelOptions(1, metric, retraction));
        RandomGenerator random = new SplittableRandom(1);
        try (Scope _ = Scope.open()) {
            Tensor w = Stiefel.random(random, Shape.of(7, 3), DType.F64);
            StiefelStep step = StiefelStep.from(w, gaussian(random, 7, 3), null, options);
            for (int i = 0; i < 10; i++) {
                w = step.point();
                Tensor former = Objects.requireNonNull(step.velocity());
                Tensor gradient = gaussian(random, 7, 3);
                step = StiefelStep.from(w, gradient, former, options);
                Tensor velocity = Objects.requireNonNull(step.velocity());
                assertThat(distanceFromTangent(w, former))
                        .as("before transport")
                        .isGreaterThan(1e-4);
                assertThat(distanceFromTangent(w, velocity)).as("step %d", i).isLessThan(1e-13);
                Tensor expected = Stiefel.gradient(w, gradient, metric).addScaled(Stiefel.project(w, former), 0.9);
                assertThat(RelativeError.of(velocity, expected)).isLessThan(1e-14);
                Tensor moved = retraction.apply(w, expected.mul(-0.1));
                assertThat(RelativeError.of(step.point(), moved)).isLessThan(1e-14);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("metricsAndRetractions")
    void descentOfTheTraceEndsInTheTopEigenspace(Metric metric, Retraction retraction) {
        Sgd options = new Sgd(0.02, 0.8, 0.1, new StiefelOptions(1, metric, retraction));
        RandomGenerator random = new SplittableRandom(2);
        Shape shape = Shape.of(10, 3);
        try (Scope _ = Scope.open();
                Parameter w = new Parameter(
                        new ParameterSpec("w", shape, Role.STIEFEL, Stiefel::random),
                        Stiefel.random(random, shape, DType.F64));
                Optimizer sgd = new Optimizer(options)) {
            Tensor factor = gaussian(random, 10, 10);
            Tensor a = factor.matmul(factor.transpose());
            for (int step = 0; step < 600; step++) {
                try (Scope _ = Scope.open()) {
                    sgd.step(w, a.matmul(w.value()).mul(-2));
                }
            }
            Tensor image = a.matmul(w.value());
            double trace = w.value().mul(image).sum().item();
            double top = sumOfLargestEigenvalues(a, 3);
            assertThat(trace / top).as("trace %s of %s", trace, top).isBetween(1 - 1e-6, 1 + 1e-12);
            assertThat(Stiefel.orthogonalityError(w.value())).isLessThan(1e-13);
        }
    }

    private static double sumOfLargestEigenvalues(Tensor matrix, int count) {
        int size = (int) matrix.size(0);
        EigenDecomposition_F64<DMatrixRMaj> eigen = DecompositionFactory_DDRM.eig(size, false, true);
        assertThat(eigen.decompose(new DMatrixRMaj(size, size, true, matrix.toDoubles())))
                .isTrue();
        return IntStream.range(0, size)
                .mapToDouble(i -> eigen.getEigenvalue(i).getReal())
                .sorted()
                .skip(size - count)
                .sum();
    }

    @ParameterizedTest
    @EnumSource(Retraction.class)
    void manyFloat32SgdStepsStayOnTheManifold(Retraction retraction) {
        int steps = Boolean.getBoolean("gramian.full") ? 10_000 : 500;
        Sgd options = new Sgd(0.01, 0.9, 5e-4, new StiefelOptions(1, Metric.CANONICAL, retraction));
        RandomGenerator random = new SplittableRandom(3);
        Shape shape = Shape.of(64, 32);
        double worst = 0;
        try (Scope _ = Scope.open();
                Parameter w = new Parameter(
                        new ParameterSpec("w", shape, Role.STIEFEL, Stiefel::random),
                        Stiefel.random(random, shape, DType.F32));
                Optimizer sgd = new Optimizer(options)) {
            double[] start = w.value().toDoubles();
            Tensor[] gradients = new Tensor[64];
            for (int i = 0; i < gradients.length; i++) {
                gradients[i] = Tensors.gaussian(random, shape, DType.F32);
            }
            for (int step = 0; step < steps; step++) {
                sgd.step(w, gradients[random.nextInt(gradients.length)]);
                if (step % 100 == 99) {
                    worst = Math.max(worst, Stiefel.orthogonalityError(w.value()));
                }
            }
            assertThat(RelativeError.of(w.value().toDoubles(), start))
                    .as("it moves")
                    .isGreaterThan(0.1);
        }
        assertThat(worst).as("%s, %d steps", retraction, steps).isLessThanOrEqualTo(5e-6);
        FullResults.add(
                StiefelStepTest.class,
                String.format(
                        Locale.ROOT,
                        "%s: max |WᵀW − I| = %.1e over %,d steps of Riemannian SGD at 64×32 in F32 (at most 5e-6)",
                        retraction,
                        worst,
                        steps));
    }

    private static Tensor gaussian(RandomGenerator random, long... sizes) {
        return Tensors.gaussian(random, Shape.of(sizes), DType.F64);
    }

    /** {@code max |WᵀZ + ZᵀW|}. */
    private static double distanceFromTangent(Tensor w, Tensor z) {
        Tensor wz = w.transpose().matmul(z);
        return wz.add(wz.transpose()).largestMagnitude();
    }
}
