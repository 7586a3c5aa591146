package org.gramian.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class MatrixStageTest {
    private static double[] spectrum(SplittableRandom random, int size) {
        double[] all = new double[size];
        Arrays.setAll(all, i -> random.nextDouble(1e-3, 5));
        Arrays.sort(all);
        double[] descending = new double[size];
        Arrays.setAll(descending, i -> all[size - 1 - i]);
        return descending;
    }

    @RandomTest(times = 10)
    void theEffectiveRankLiesBetweenOneAndTheSizeWhateverTheScale(Seed seed) {
        int size = seed.random().nextInt(1, 40);
        double[] spectrum = spectrum(seed.random(), size);
        double rank = MatrixStage.effectiveRank(spectrum);
        assertThat(rank).isBetween(1.0, size + 1e-9);
        double[] scaled = Arrays.stream(spectrum).map(x -> 1e-7 * x).toArray();
        assertThat(MatrixStage.effectiveRank(scaled)).isCloseTo(rank, within(1e-9));
        assertThat(MatrixStage.condition(scaled))
                .isCloseTo(spectrum[0] / spectrum[size - 1], within(1e-9 * spectrum[0] / spectrum[size - 1]));
    }

    @Test
    void theEffectiveRankCountsDirections() {
        assertThat(MatrixStage.effectiveRank(new double[] {3, 3, 3, 0, 0})).isCloseTo(3, within(1e-12));
        assertThat(MatrixStage.effectiveRank(new double[] {7, 0})).isEqualTo(1);
        // exp(H(2/3, 1/3)), by hand; a sign does not matter.
        assertThat(MatrixStage.effectiveRank(new double[] {2, -1})).isCloseTo(1.889881574842309, within(1e-12));
        assertThat(MatrixStage.effectiveRank(new double[2])).isEqualTo(1);
    }

    @Test
    void aSingularMatrixHasTheWorstConditionThatSinglePrecisionCanTell() {
        double worst = 0x1p24 / Math.sqrt(2);
        assertThat(MatrixStage.condition(new double[] {2, 0})).isEqualTo(worst);
        assertThat(MatrixStage.condition(new double[] {2, 1e-12})).isEqualTo(worst);
        assertThat(MatrixStage.condition(new double[2])).isEqualTo(worst);
        assertThat(MatrixStage.condition(new double[] {2, -4})).isEqualTo(2);
        MatrixStage stage = MatrixStage.of("kernel rbf", List.of(new double[] {2, 0}));
        assertThat(stage.condition().median()).isEqualTo(stage.worstCondition());
    }

    /** Else what is shown would be rounding alone. */
    @RandomTest(times = 10)
    void roundingToSinglePrecisionMakesNoConditionOfASingularMatrixBelowTheWorst(Seed seed) {
        SplittableRandom random = seed.random();
        int size = 2 + random.nextInt(30);
        try (Scope _ = Scope.open()) {
            Tensor half = Tensors.gaussian(random, Shape.of(1, size, size - 1), DType.F64);
            Tensor singular = half.matmul(half.transpose().contiguous());
            Tensor rounded = singular.to(DType.F32).to(DType.F64);
            double[] spectrum = Decompositions.symmetricEigenvalues(rounded).toDoubles();
            assertThat(MatrixStage.condition(spectrum)).isEqualTo(0x1p24 / Math.sqrt(size));
        }
    }

    @Test
    void aStageHasTheQuantilesOfEveryEigenvalueAndTheShareOfIndefiniteMatrices() {
        MatrixStage stage = MatrixStage.of(
                "kernel rbf", List.of(new double[] {1, 0}, new double[] {2, -1}, new double[] {4, 1e-9}));
        assertThat(stage.size()).isEqualTo(2);
        assertThat(stage.images()).isEqualTo(3);
        assertThat(stage.eigenvalues().getFirst().median()).isEqualTo(2);
        assertThat(stage.eigenvalues().getFirst().low()).isCloseTo(1.2, within(1e-12));
        assertThat(stage.eigenvalues().getFirst().high()).isCloseTo(3.6, within(1e-12));
        assertThat(stage.eigenvalues().getLast().median()).isZero();
        assertThat(stage.indefinite()).isCloseTo(1.0 / 3, within(1e-12));
    }

    @Test
    void largeMatricesAreDecomposedForFewerImages() {
        assertThat(Inspector.matrices(16)).isEqualTo(64);
        assertThat(Inspector.matrices(128)).isEqualTo(32);
        assertThat(Inspector.matrices(512)).isEqualTo(8);
        assertThat(Inspector.matrices(100_000)).isEqualTo(4);
    }
}
