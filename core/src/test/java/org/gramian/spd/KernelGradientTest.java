package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(SingleThreaded.class)
class KernelGradientTest {
    private static final double TOLERANCE = 1e-6;
    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    static Stream<Arguments> kernelsAndUpstreams() {
        return KernelUnderTest.all().stream()
                .flatMap(kernel -> Stream.of(Upstream.values()).map(upstream -> Arguments.of(kernel, upstream)));
    }

    @ParameterizedTest
    @MethodSource("kernelsAndUpstreams")
    void gradientOfKernelAgreesWithDifferences(KernelUnderTest kernel, Upstream upstream) {
        for (Defect defect : Defect.values()) {
            boolean equalMaps = defect == Defect.REPEATED || defect == Defect.TWO_DEAD;
            if (equalMaps && !kernel.smoothAtEqualMaps()) {
                continue;
            }
            // every upstream and every defect, but not every pair
            if (!FULL
                    && kernel.smoothAtEqualMaps()
                    && (defect.ordinal() + upstream.ordinal()) % Upstream.values().length != 0) {
                continue;
            }
            check(kernel, upstream, defect, 5, 7);
            if (FULL) {
                check(kernel, upstream, defect, 6, 3);
            }
        }
    }

    private static void check(KernelUnderTest kernel, Upstream upstream, Defect defect, long channels, long positions) {
        long seed = 100 * channels + positions;
        try (Scope _ = Scope.open()) {
            long images = kernel.holdsMean() ? 1 : 2; // one σ can be held, not one per image
            Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, images, channels, positions);
            List<Tensor> inputs = new ArrayList<>(List.of(maps));
            if (kernel.isLearned()) {
                inputs.add(KernelUnderTest.logSigma(DType.F64));
            }
            GradientCheck check =
                    GradientCheck.of(kernel::apply).withUpstream(upstream).withAtMost(FULL ? Integer.MAX_VALUE : 24);
            if (kernel.holdsMean()) {
                Kernel held = new Rbf(new Sigma.Fixed(Rbf.meanDistance(maps)), KernelUnderTest.JITTER);
                check = check.withReference(x -> held.apply(x.getFirst(), Bindings.of(Map.of())));
            }
            GradientCheck.Report report = check.check(inputs.toArray(Tensor[]::new));
            assertThat(report.worst())
                    .as("%s, %s upstream, %s, %s, seed %d: %s", kernel, upstream, maps, defect, seed, report)
                    .isLessThan(TOLERANCE);
        }
    }

    @ParameterizedTest
    @EnumSource(Upstream.class)
    void equalMapsAddNothingToGradientOfMeanDistance(Upstream upstream) {
        assertGradientAtEqualMaps(
                new Rbf(new Sigma.MeanFull(), 0), upstream, PaperDefinitionOracle::rbfMeanFullGradient);
    }

    @ParameterizedTest
    @EnumSource(Upstream.class)
    void equalMapsAddNothingToGradientOfLaplacian(Upstream upstream) {
        assertGradientAtEqualMaps(
                new Laplacian(3, 0), upstream, (maps, g) -> PaperDefinitionOracle.laplacianGradient(maps, g, 3));
    }

    private static void assertGradientAtEqualMaps(
            Kernel kernel, Upstream upstream, BinaryOperator<double[][]> definition) {
        for (Defect defect : List.of(Defect.REPEATED, Defect.TWO_DEAD)) {
            for (long seed = 1; seed <= 4; seed++) {
                try (Scope _ = Scope.open()) {
                    Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 2, 6, 4);
                    Tensor g = upstream.apply(SampleMatrices.gaussian(SampleMatrices.random(0), 2, 6, 6));
                    Tensor gradient = gradient(kernel, maps, g);
                    for (int image = 0; image < 2; image++) {
                        double[][] expected =
                                definition.apply(SampleMatrices.rows(maps, image), SampleMatrices.rows(g, image));
                        assertThat(RelativeError.of(
                                        SampleMatrices.flat(SampleMatrices.rows(gradient, image)),
                                        SampleMatrices.flat(expected)))
                                .as("%s, %s, image %d, %s", kernel, defect, image, seed)
                                .isLessThan(1e-12);
                    }
                }
            }
        }
    }

    @RandomTest(times = 8)
    void withFullMeanGradientIsOrthogonalToItsMaps(Seed seed) {
        for (Defect defect : Defect.values()) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 1, 7, 5);
                Tensor g = SampleMatrices.gaussian(SampleMatrices.random(seed.value() + 1), 1, 7, 7);
                Tensor gradient = gradient(new Rbf(new Sigma.MeanFull(), 1e-4), maps, g);
                assertThat(inner(maps, gradient))
                        .as("%s, %s", defect, seed)
                        .isCloseTo(0, within(1e-12 * Math.sqrt(inner(maps, maps) * inner(gradient, gradient))));
                Tensor constant = gradient(new Rbf(new Sigma.Mean(), 1e-4), maps, g);
                assertThat(Math.abs(inner(maps, constant)))
                        .as("with σ a constant, %s, %s", defect, seed)
                        .isGreaterThan(1e-6);
            }
        }
    }

    @RandomTest(times = 8)
    void gradientOfAnyDistanceKernelSumsToZeroOverMaps(Seed seed) {
        for (Kernel kernel :
                List.of(new Rbf(new Sigma.Mean(), 0), new Rbf(new Sigma.MeanFull(), 0), new Laplacian(3, 0))) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), Defect.REPEATED, 2, 7, 5);
                Tensor g = SampleMatrices.gaussian(SampleMatrices.random(seed.value() + 1), 2, 7, 7);
                Tensor gradient = gradient(kernel, maps, g);
                assertThat(gradient.sum(1).largestMagnitude())
                        .as("%s, %s", kernel, seed)
                        .isLessThan(1e-13);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("org.gramian.spd.KernelUnderTest#all")
    void gradientsOfDeadOrEqualMapsAreFinite(KernelUnderTest kernel) {
        for (DType type : List.of(DType.F64, DType.F32)) {
            for (double value : new double[] {0, 1, 100}) {
                try (Scope _ = Scope.open();
                        Tape tape = Tape.recording()) {
                    Var maps = tape.variable(Tensors.full(value, Shape.of(2, 6, 5), type, Device.CPU));
                    Var k = kernel.apply(List.of(maps));
                    assertThat(k.value().allFinite())
                            .as("%s, all maps %s, %s", kernel, value, type)
                            .isTrue();
                    Tensor g = SampleMatrices.gaussian(
                                    SampleMatrices.random(5), k.shape().sizes())
                            .to(type);
                    try (Gradients gradients = tape.backward(k, g)) {
                        assertThat(gradients.of(maps).allFinite())
                                .as("gradient of %s, all maps %s, %s", kernel, value, type)
                                .isTrue();
                    }
                }
            }
        }
    }

    private static double inner(Tensor a, Tensor b) {
        return a.mul(b).sum().item();
    }

    static Tensor gradient(Kernel kernel, Tensor maps, Tensor g) {
        try (Tape tape = Tape.recording()) {
            Var m = tape.variable(maps);
            try (Gradients gradients = tape.backward(kernel.apply(m, Bindings.of(Map.of())), g)) {
                return gradients.of(m).copy();
            }
        }
    }
}
