package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class KernelLawsTest {
    private static final List<Kernel> UNIT_DIAGONAL = List.of(
            new Rbf(new Sigma.Mean(), 0),
            new Rbf(new Sigma.MeanFull(), 0),
            new Rbf(new Sigma.Fixed(3), 0),
            new Laplacian(3, 0));

    @ParameterizedTest
    @MethodSource("org.gramian.spd.KernelUnderTest#all")
    void everyKernelGivesSymmetricMatrices(KernelUnderTest kernel) {
        for (Defect defect : Defect.values()) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.inference()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(3), defect, 2, 33, 20);
                Tensor k = kernel.apply(List.of(tape.constant(maps))).value();
                assertThat(RelativeError.of(SampleMatrices.transpose(k), k))
                        .as("%s, %s", kernel, defect)
                        .isLessThan(1e-15);
            }
        }
    }

    @RandomTest(times = 8)
    void diagonalIsOnePlusJitter(Seed seed) {
        for (Defect defect : Defect.values()) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 2, 9, 6);
                for (Kernel kernel : UNIT_DIAGONAL) {
                    assertThat(diagonal(apply(kernel, maps)))
                            .as("%s, %s, %s", kernel, defect, seed)
                            .containsOnly(1.0);
                }
                assertThat(diagonal(apply(new Rbf(new Sigma.Mean(), 0.25), maps)))
                        .containsOnly(1.25);
                assertThat(diagonal(apply(new Laplacian(3, 0.25), maps))).containsOnly(1.25);
            }
        }
    }

    @RandomTest(times = 8)
    void entriesLieAboveZeroAndNotAboveOne(Seed seed) {
        for (Defect defect : Defect.values()) {
            for (DType type : List.of(DType.F64, DType.F32)) {
                try (Scope _ = Scope.open()) {
                    Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 2, 9, 6)
                            .to(type);
                    for (Kernel kernel : UNIT_DIAGONAL) {
                        assertThat(Arrays.stream(apply(kernel, maps).toDoubles()))
                                .as("%s, %s, %s, %s", kernel, defect, type, seed)
                                .allMatch(x -> x > 0 && x <= 1);
                    }
                }
            }
        }
    }

    @RandomTest(times = 8)
    void kernelOfDistinctMapsIsPositiveDefinite(Seed seed) {
        for (Defect defect : List.of(Defect.NONE, Defect.DEAD)) {
            for (long positions : new long[] {2, 40}) {
                try (Scope _ = Scope.open()) {
                    Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 2, 8, positions);
                    for (Kernel kernel : UNIT_DIAGONAL) {
                        assertThat(SampleMatrices.spectrum(apply(kernel, maps)).smallest())
                                .as("%s of %s, %s, %s", kernel, maps, defect, seed)
                                .isGreaterThan(0);
                    }
                }
            }
        }
    }

    @RandomTest(times = 8)
    void equalMapsMakeKernelSingularAndJitterMendsIt(Seed seed) {
        for (Defect defect : List.of(Defect.REPEATED, Defect.TWO_DEAD)) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 1, 8, 12);
                SampleMatrices.Spectrum singular = SampleMatrices.spectrum(apply(new Rbf(new Sigma.Mean(), 0), maps));
                assertThat(singular.smallest()).as("%s, %s", defect, seed).isCloseTo(0, within(1e-13));
                SampleMatrices.Spectrum mended =
                        SampleMatrices.spectrum(apply(new Rbf(new Sigma.Mean(), Rbf.DEFAULT_JITTER), maps));
                assertThat(mended.smallest()).as("%s, %s", defect, seed).isCloseTo(Rbf.DEFAULT_JITTER, within(1e-12));
                assertThat(mended.largest() / mended.smallest()).isLessThan(1e6);
            }
        }
    }

    @Test
    void defaultJitterKeepsKernelsOfDeadChannelsDefinite() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(1), 1, 64, 30);
        maps.slice(1, 0, 40).fill(0);
        Tensor k = apply(new Rbf(new Sigma.Mean(), Rbf.DEFAULT_JITTER), maps.to(DType.F32));
        assertThat(SampleMatrices.spectrum(k).smallest()).isGreaterThan(0.5 * Rbf.DEFAULT_JITTER);
    }

    /** MATH: without subtracting the mean map 1654 of 4096 squared distances of such maps come out negative. */
    @Test
    void mapsFarFromOriginKeepTheirDigitsInSinglePrecision() {
        double worst = 0;
        for (long seed = 1; seed <= 5; seed++) {
            try (Scope _ = Scope.open()) {
                Tensor noise = SampleMatrices.gaussian(SampleMatrices.random(seed), 1, 64, 49);
                Tensor maps = noise.mul(0.01).add(100).to(DType.F32);
                double[][] exact = SampleMatrices.rows(maps, 0);
                double sigma = PaperDefinitionOracle.meanDistance(exact);
                double[] expected = SampleMatrices.flat(PaperDefinitionOracle.rbf(exact, sigma));
                for (Sigma option : List.of(new Sigma.Mean(), new Sigma.MeanFull(), new Sigma.Fixed(sigma))) {
                    double[] found = apply(new Rbf(option, 0), maps).toDoubles();
                    double error = RelativeError.of(found, expected);
                    assertThat(error).as("%s, %s", option, seed).isLessThan(1e-6);
                    worst = Math.max(worst, error);
                }
                double[] laplacian = apply(new Laplacian(0.1, 0), maps).toDoubles();
                assertThat(RelativeError.of(
                                laplacian, SampleMatrices.flat(PaperDefinitionOracle.laplacian(exact, 0.1))))
                        .as("laplacian, %s", seed)
                        .isLessThan(1e-6);
            }
        }
        FullResults.add(
                KernelLawsTest.class,
                String.format(
                        Locale.ROOT,
                        "RBF in F32, maps [64, 49] of mean 100 and spread 0.01: error %.1e against double loops",
                        worst));
    }

    /** The root of what rounding leaves between equal maps must not count in the mean distance. */
    @RandomTest(times = 4)
    void deadChannelsKeepMeanDistanceExactInFloat32(Seed seed) {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(seed), 1, 64, 49);
        maps.slice(1, 0, 40).fill(0);
        Tensor single = maps.to(DType.F32);
        double[][] exact = SampleMatrices.rows(single, 0);
        double sigma = PaperDefinitionOracle.meanDistance(exact);
        double[] expected = SampleMatrices.flat(PaperDefinitionOracle.rbf(exact, sigma));
        for (Sigma option : List.of(new Sigma.Mean(), new Sigma.MeanFull())) {
            assertThat(RelativeError.of(apply(new Rbf(option, 0), single).toDoubles(), expected))
                    .as("%s, %s", option, seed)
                    .isLessThan(2e-6);
        }
        assertThat(Rbf.meanDistance(single)).as("%s", seed).isCloseTo(sigma, within(2e-6 * sigma));
    }

    @Test
    void equalMapsGiveOnesAtAnyScale() {
        for (double value : new double[] {0.1, 100, 1e4, 1e6}) {
            try (Scope _ = Scope.open()) {
                Tensor one = SampleMatrices.gaussian(SampleMatrices.random(6), 1, 1, 30)
                        .mul(value);
                Tensor maps = one.expand(1, 7, 30).copy();
                for (Sigma option : List.of(new Sigma.Mean(), new Sigma.MeanFull())) {
                    double[] k = apply(new Rbf(option, 0), maps.to(DType.F32)).toDoubles();
                    assertThat(k).as("%s, maps of size %s", option, value).containsOnly(1.0);
                }
            }
        }
    }

    @RandomTest(times = 8)
    void kernelOfFullMeanIsScaleInvariant(Seed seed) {
        for (Defect defect : Defect.values()) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), defect, 2, 7, 5);
                Kernel kernel = new Rbf(new Sigma.MeanFull(), 1e-4);
                Tensor k = apply(kernel, maps);
                for (double scale : new double[] {1e-3, 0.7, -2, 1e4}) {
                    assertThat(RelativeError.of(apply(kernel, maps.mul(scale)), k))
                            .as("scale %s, %s, %s", scale, defect, seed)
                            .isLessThan(1e-13);
                }
                Tensor fixed = apply(new Rbf(new Sigma.Fixed(2), 1e-4), maps);
                Tensor scaled = apply(new Rbf(new Sigma.Fixed(2), 1e-4), maps.mul(0.5));
                assertThat(RelativeError.of(scaled, fixed)).isGreaterThan(0.01);
            }
        }
    }

    @RandomTest(times = 4)
    void kernelIsEquivariantToChannelsAndInvariantToPositions(Seed seed) {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(seed), 1, 6, 10);
        Tensor backwards = Tensors.ofLongs(new long[] {5, 4, 3, 2, 1, 0}, Shape.of(6));
        Tensor turned = Tensors.ofLongs(new long[] {3, 4, 5, 6, 7, 8, 9, 0, 1, 2}, Shape.of(10));
        for (Kernel kernel : List.of(
                new Rbf(new Sigma.Mean(), 0.1),
                new Laplacian(2, 0.1),
                new Polynomial(2, 0.5, 1, 0.1),
                new Covariance(0.1, 0),
                new Bilinear(0.1))) {
            Tensor k = apply(kernel, maps);
            Tensor permuted = apply(kernel, select(maps, 1, backwards));
            assertThat(RelativeError.of(permuted, select(select(k, 1, backwards), 2, backwards)))
                    .as("%s, %s", kernel, seed)
                    .isLessThan(1e-14);
            assertThat(RelativeError.of(apply(kernel, select(maps, 2, turned)), k))
                    .as("%s, %s", kernel, seed)
                    .isLessThan(1e-14);
        }
    }

    private static Tensor select(Tensor source, int dimension, Tensor places) {
        return source.select(dimension, places);
    }

    private static double[] diagonal(Tensor k) {
        return k.diagonal().toDoubles();
    }

    private static Tensor apply(Kernel kernel, Tensor maps) {
        try (Tape tape = Tape.inference()) {
            return kernel.apply(tape.constant(maps), Bindings.of(Map.of()))
                    .value()
                    .copy();
        }
    }
}
