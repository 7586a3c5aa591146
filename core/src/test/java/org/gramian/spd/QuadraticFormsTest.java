package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;

import java.util.random.RandomGenerator;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.spd.layer.QuadraticForms;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SingleThreaded.class)
class QuadraticFormsTest {
    /** More columns than are taken at once, and one that is left over. */
    private static final int MANY = 513;

    @RandomTest(times = 6)
    void everyFormIsDiagonalElementOfWholeProduct(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        for (int columns : new int[] {1, 4, MANY}) {
            try (Scope _ = Scope.open()) {
                Tensor y = SampleMatrices.symmetric(random, 1, 5);
                Tensor l = SampleMatrices.gaussian(random, 5, columns);
                Tensor r = SampleMatrices.gaussian(random, 5, columns);
                Tensor all = l.transpose().matmul(y.reshape(5, 5)).matmul(r);
                assertThat(RelativeError.of(
                                forms(y, l, r).toDoubles(), all.diagonal().toDoubles()))
                        .as("%d columns, %s", columns, seed)
                        .isLessThan(1e-13);
            }
        }
    }

    @Test
    void gradientsAgreeWithDifferencesForFewAndForManyColumns() {
        RandomGenerator random = SampleMatrices.random(4);
        for (int columns : new int[] {3, MANY}) {
            try (Scope _ = Scope.open()) {
                Tensor y = SampleMatrices.symmetric(random, 2, 4);
                Tensor l = SampleMatrices.gaussian(random, 4, columns);
                Tensor r = SampleMatrices.gaussian(random, 4, columns);
                GradientCheck check = GradientCheck.of(x -> QuadraticForms.of(x.get(0), x.get(1), x.get(2)))
                        .withAtMost(8);
                assertThat(check.check(y, l, r).worst())
                        .as("%d columns", columns)
                        .isLessThan(1e-6);
                GradientCheck ofOne = GradientCheck.of(x -> QuadraticForms.of(x.get(0), x.get(1), x.get(1)))
                        .withAtMost(8);
                assertThat(ofOne.check(y, l).worst()).as("%d columns", columns).isLessThan(1e-6);
            }
        }
    }

    @Test
    void whatDoesNotFitIsNamed() {
        try (Scope _ = Scope.open()) {
            RandomGenerator random = SampleMatrices.random(1);
            Tensor y = SampleMatrices.symmetric(random, 2, 4);
            Tensor l = SampleMatrices.gaussian(random, 4, 3);
            assertRejected(() -> forms(y, l, SampleMatrices.gaussian(random, 4, 2)), "[4, 3]", "[4, 2]");
            assertThatThrownBy(() ->
                            forms(y, SampleMatrices.gaussian(random, 5, 3), SampleMatrices.gaussian(random, 5, 3)))
                    .hasMessageContaining("[5, 3]");
        }
    }

    private static Tensor forms(Tensor y, Tensor l, Tensor r) {
        try (Tape tape = Tape.inference()) {
            return QuadraticForms.of(tape.constant(y), tape.constant(l), tape.constant(r))
                    .value()
                    .copy();
        }
    }
}
