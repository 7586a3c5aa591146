package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import org.gramian.autodiff.Tape;
import org.gramian.spd.layer.SparseInverse;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class SparseInverseTest {
    private static Tensor estimate(double[] covariance, double sparsity) {
        int size = (int) Math.sqrt(covariance.length);
        try (Tape tape = Tape.inference()) {
            Tensor s = Tensors.of(covariance, Shape.of(1, size, size), DType.F64);
            return SparseInverse.of(tape.constant(s), 5, sparsity, 1).value().copy();
        }
    }

    /** The inverse of [[2, 1], [1, 2]]/4 is 4/3·[[2, −1], [−1, 2]], of trace 16/3; ε moves it by about 1e-6. */
    @Test
    void withoutPenaltyItIsInverse() {
        double scale = 4.0 / 3 / Math.sqrt(16.0 / 3);
        double[] expected = {2 * scale, -scale, -scale, 2 * scale};
        assertTensor(estimate(new double[] {2, 1, 1, 2}, 0))
                .isCloseTo(Tensors.of(expected, Shape.of(1, 2, 2), DType.F64), 1e-5);
    }

    /** In a chain a – b – c, a and c correlate only through b: their entry of the inverse is 0. */
    @Test
    void penaltyRemovesSmallPartialCorrelations() {
        double[] chain = {1, 0.5, 0.26, 0.5, 1, 0.5, 0.26, 0.5, 1};
        assertThat(estimate(chain, 0).toDoubles()[2]).isNotZero();
        double[] sparse = estimate(chain, 0.1).toDoubles();
        assertThat(sparse[2]).isZero();
        assertThat(Math.abs(sparse[1])).isGreaterThan(0.1);
    }
}
