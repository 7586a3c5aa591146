package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.factory.DecompositionFactory_DDRM;
import org.ejml.interfaces.decomposition.EigenDecomposition_F64;
import org.gramian.spd.SampleMatrices.Defect;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class DiagnosticsTest {
    @RandomTest(times = 8)
    void deadAndDuplicateChannelsAreCounted(Seed seed) {
        for (DType type : new DType[] {DType.F64, DType.F32}) {
            assertThat(channels(seed, Defect.NONE, type)).isEqualTo(new Diagnostics.Channels(9, 0, 0));
            assertThat(channels(seed, Defect.REPEATED, type)).isEqualTo(new Diagnostics.Channels(9, 0, 1));
            assertThat(channels(seed, Defect.DEAD, type)).isEqualTo(new Diagnostics.Channels(9, 1, 0));
            assertThat(channels(seed, Defect.TWO_DEAD, type)).isEqualTo(new Diagnostics.Channels(9, 2, 0));
        }
    }

    private static Diagnostics.Channels channels(Seed seed, Defect defect, DType type) {
        try (Scope _ = Scope.open()) {
            return Diagnostics.channels(SampleMatrices.maps(SampleMatrices.random(seed), defect, 3, 9, 14)
                    .to(type));
        }
    }

    @RandomTest(times = 4)
    void findsDuplicatesInFloat32ForManyPositions(Seed seed) {
        for (long positions : new long[] {49, 196, 784, 3136, 12544}) {
            try (Scope _ = Scope.open()) {
                Tensor maps = SampleMatrices.maps(SampleMatrices.random(seed), Defect.REPEATED, 1, 9, positions);
                Tensor rectified = maps.add(0.5).relu();
                assertThat(Diagnostics.channels(rectified.to(DType.F32)))
                        .as("%d positions, %s", positions, seed)
                        .isEqualTo(new Diagnostics.Channels(9, 0, 1));
            }
        }
    }

    @Test
    void threeEqualChannelsAreTwoDuplicates() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(2), 2, 6, 8);
        maps.slice(1, 3, 4).copyFrom(maps.slice(1, 0, 1));
        maps.slice(1, 5, 6).copyFrom(maps.slice(1, 0, 1));
        assertThat(Diagnostics.channels(maps)).isEqualTo(new Diagnostics.Channels(6, 0, 2));
    }

    @Test
    void channelThatLivesInOneImageIsNotDead() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(2), 2, 5, 8);
        maps.slice(0, 0, 1).slice(1, 1, 2).fill(0);
        assertThat(Diagnostics.channels(maps)).isEqualTo(new Diagnostics.Channels(5, 0, 0));
        maps.slice(0, 0, 1).slice(1, 2, 3).copyFrom(maps.slice(0, 0, 1).slice(1, 4, 5));
        assertThat(Diagnostics.channels(maps))
                .as("equal in one image only")
                .isEqualTo(new Diagnostics.Channels(5, 0, 0));
    }

    @Test
    void channelsFarFromOriginAreNotTakenForDuplicates() {
        Tensor maps = SampleMatrices.gaussian(SampleMatrices.random(3), 1, 20, 30)
                .mul(0.01)
                .add(100);
        assertThat(Diagnostics.channels(maps.to(DType.F32))).isEqualTo(new Diagnostics.Channels(20, 0, 0));
    }

    @Test
    void allChannelsMayBeDead() {
        assertThat(Diagnostics.channels(Tensors.zeros(Shape.of(2, 4, 3), DType.F32, Device.CPU)))
                .isEqualTo(new Diagnostics.Channels(4, 4, 0));
    }

    @RandomTest(times = 8)
    void spectrumIsThatOfAnotherLibrary(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open()) {
            Tensor matrices = SampleMatrices.symmetric(random, 3, 7);
            double smallest = Double.POSITIVE_INFINITY;
            double largest = Double.NEGATIVE_INFINITY;
            double condition = 0;
            for (int i = 0; i < 3; i++) {
                double[] values = eigenvalues(SampleMatrices.rows(matrices, i));
                double[] magnitudes =
                        Arrays.stream(values).map(Math::abs).sorted().toArray();
                smallest = Math.min(smallest, values[0]);
                largest = Math.max(largest, values[6]);
                condition = Math.max(condition, magnitudes[6] / magnitudes[0]);
            }
            Diagnostics.Spectrum found = Diagnostics.spectrum(matrices);
            assertThat(found.smallest()).as("%s", seed).isCloseTo(smallest, within(1e-12));
            assertThat(found.largest()).as("%s", seed).isCloseTo(largest, within(1e-12));
            assertThat(found.condition()).as("%s", seed).isCloseTo(condition, within(1e-9 * condition * condition));
            assertThat(found.isPositiveDefinite()).as("%s", seed).isFalse();
        }
    }

    @Test
    void conditionIsThatOfWorstMatrixInBatch() {
        RandomGenerator random = SampleMatrices.random(4);
        Tensor small = SampleMatrices.withEigenvalues(random, 1e-3, 2e-3, 4e-3);
        Tensor large = SampleMatrices.withEigenvalues(random, 10, 20, 50);
        Diagnostics.Spectrum found = Diagnostics.spectrum(Tensors.concat(List.of(small, large), 0));
        assertThat(found.condition()).isCloseTo(5, within(1e-10));
        assertThat(found.smallest()).isCloseTo(1e-3, within(1e-13));
        assertThat(found.largest()).isCloseTo(50, within(1e-12));
        assertThat(found.isPositiveDefinite()).isTrue();
    }

    /** Ascending. */
    private static double[] eigenvalues(double[][] matrix) {
        EigenDecomposition_F64<DMatrixRMaj> eigen = DecompositionFactory_DDRM.eig(matrix.length, false, true);
        assertThat(eigen.decompose(new DMatrixRMaj(matrix))).isTrue();
        double[] values = new double[matrix.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = eigen.getEigenvalue(i).getReal();
        }
        Arrays.sort(values);
        return values;
    }
}
