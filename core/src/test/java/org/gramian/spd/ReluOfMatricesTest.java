package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the element-wise ReLU does to positive definiteness: the paper's Theorem 4 holds up to 3×3 only. */
@ExtendWith(SingleThreaded.class)
class ReluOfMatricesTest {
    @Test
    void reluOfSpdMatrixNeedNotBeSpd() {
        try (Scope _ = Scope.open()) {
            double[] values = {10, 7, 0, -7, 7, 10, 7, 0, 0, 7, 10, 7, -7, 0, 7, 10};
            Tensor matrix = Tensors.of(values, Shape.of(1, 4, 4), DType.F64);
            assertThat(SampleMatrices.spectrum(matrix).smallest()).isCloseTo(0.1005, within(5e-5));
            assertThat(SampleMatrices.spectrum(matrix.relu()).smallest()).isCloseTo(-1.326, within(5e-4));
        }
    }

    @RandomTest(times = 40)
    void reluOfSmallSpdMatricesIsSpd(Seed seed) {
        try (Scope _ = Scope.open()) {
            for (long size = 2; size <= 3; size++) {
                Tensor factor = SampleMatrices.gaussian(SampleMatrices.random(seed), 50, size, size);
                Tensor matrices = Gram.of(factor, 1, 1e-9);
                assertThat(SampleMatrices.spectrum(matrices.relu()).smallest())
                        .as("size %d, %s", size, seed)
                        .isGreaterThan(0);
            }
        }
    }
}
