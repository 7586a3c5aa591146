package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.layer.UpperTriangle;
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

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class UpperTriangleTest {
    @RandomTest(times = 8)
    void vectorIsUpperTriangleRowByRow(Seed seed) {
        Tensor y = SampleMatrices.symmetric(SampleMatrices.random(seed), 3, 5);
        double[] v = vectorized(y).toDoubles();
        for (int image = 0; image < 3; image++) {
            double[] expected = PaperDefinitionOracle.upperTriangle(SampleMatrices.rows(y, image));
            assertThat(Arrays.copyOfRange(v, image * 15, image * 15 + 15))
                    .as("%s", seed)
                    .containsExactly(expected, within(1e-15));
        }
    }

    /** {@code ⟨g, v(Y)⟩ = ⟨E, Y⟩}; with the paper's √2 on both sides the off-diagonal part would count twice. */
    @RandomTest(times = 8)
    void gradientIsAdjoint(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Tensor g = SampleMatrices.gaussian(random, 2, 10);
            Tensor y = SampleMatrices.symmetric(random, 2, 4);
            Var matrices = tape.variable(SampleMatrices.symmetric(random, 2, 4));
            try (Gradients gradients = tape.backward(UpperTriangle.vectorize(matrices, Backward.EXACT), g)) {
                Tensor e = gradients.of(matrices);
                assertThat(inner(e, y)).as("%s", seed).isCloseTo(inner(g, vectorized(y)), within(1e-12));
                assertThat(RelativeError.of(SampleMatrices.transpose(e), e))
                        .as("%s", seed)
                        .isZero();
                assertThat(squareOf(e)).as("an isometry, %s", seed).isCloseTo(squareOf(g), within(1e-12));
            }
        }
    }

    @Test
    void onlySquareMatricesHaveTriangle() {
        assertThatThrownBy(() -> vectorized(Tensors.gaussian(SampleMatrices.random(1), Shape.of(2, 3, 4), DType.F64)))
                .hasMessageContaining("[2, 3, 4]");
    }

    private static Tensor vectorized(Tensor y) {
        try (Tape tape = Tape.inference()) {
            return UpperTriangle.vectorize(tape.constant(y), Backward.EXACT)
                    .value()
                    .copy();
        }
    }

    private static double squareOf(Tensor x) {
        return inner(x, x);
    }

    private static double inner(Tensor a, Tensor b) {
        return a.mul(b).sum().item();
    }
}
