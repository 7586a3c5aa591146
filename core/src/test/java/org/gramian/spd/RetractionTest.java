package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class RetractionTest {
    @ParameterizedTest
    @EnumSource(Retraction.class)
    void everyRetractionStaysOnManifold(Retraction retraction) {
        for (Shape shape : StiefelTest.SHAPES) {
            for (double step : new double[] {1e-3, 0.1, 1}) {
                try (Scope _ = Scope.open()) {
                    Tensor w = point(3, shape);
                    Tensor moved = retraction.apply(w, tangent(4, w).mul(step));
                    assertThat(Stiefel.orthogonalityError(moved))
                            .as("%s of %s, step %s", retraction, shape, step)
                            .isLessThan(1e-13);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Retraction.class, mode = EnumSource.Mode.EXCLUDE, names = "QR_UNSIGNED")
    void withoutStepPointStays(Retraction retraction) {
        for (Shape shape : StiefelTest.SHAPES) {
            try (Scope _ = Scope.open()) {
                Tensor w = point(5, shape);
                Tensor same = retraction.apply(w, w.mul(0));
                assertThat(RelativeError.of(same, w)).as("%s", shape).isLessThan(1e-14);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Retraction.class, mode = EnumSource.Mode.EXCLUDE, names = "QR_UNSIGNED")
    void firstOrderOfEveryRetractionIsItsTangent(Retraction retraction) {
        for (Shape shape : List.of(Shape.of(7, 7), Shape.of(9, 4), Shape.of(6, 1))) {
            try (Scope _ = Scope.open()) {
                Tensor w = point(6, shape);
                Tensor xi = tangent(7, w);
                for (double t : new double[] {1e-3, 1e-4, 1e-5}) {
                    Tensor moved = retraction.apply(w, xi.mul(t));
                    Tensor slope = moved.sub(w).mul(1 / t);
                    assertThat(RelativeError.of(slope, xi))
                            .as("%s of %s at t = %s", retraction, shape, t)
                            .isLessThan(20 * t);
                }
            }
        }
    }

    @RandomTest(times = 8)
    void qrAndCholeskyQrAgreeToRounding(Seed seed) {
        for (Shape shape : List.of(Shape.of(64, 32), Shape.of(48, 48), Shape.of(20, 1))) {
            for (double step : new double[] {1e-3, 0.1, 0.5}) {
                try (Scope _ = Scope.open()) {
                    Tensor w = point(seed.value(), shape);
                    Tensor xi = tangent(seed.value() + 1, w).mul(step);
                    assertThat(RelativeError.of(Retraction.CHOLESKY_QR.apply(w, xi), Retraction.QR.apply(w, xi)))
                            .as("%s, step %s, %s", shape, step, seed)
                            .isLessThan(1e-12);
                    Tensor w32 = w.to(DType.F32);
                    Tensor xi32 = xi.to(DType.F32);
                    assertThat(RelativeError.of(
                                    Retraction.CHOLESKY_QR.apply(w32, xi32), Retraction.QR.apply(w32, xi32)))
                            .as("%s in F32, step %s, %s", shape, step, seed)
                            .isLessThan(1e-5);
                }
            }
        }
    }

    @RandomTest(times = 4)
    void polarRetractionIsNearestPoint(Seed seed) {
        Tensor w = point(seed.value(), Shape.of(8, 3));
        Tensor xi = tangent(seed.value() + 1, w).mul(0.3);
        Tensor target = w.add(xi);
        double polar = distance(Retraction.POLAR.apply(w, xi), target);
        for (Retraction other : Retraction.values()) {
            assertThat(polar)
                    .as("%s, %s", other, seed)
                    .isLessThanOrEqualTo(distance(other.apply(w, xi), target) + 1e-12);
        }
    }

    @RandomTest(times = 8)
    void qrWithSignsOfLibraryIsQrUpToSigns(Seed seed) {
        Tensor w = point(seed.value(), Shape.of(9, 4));
        Tensor xi = tangent(seed.value() + 1, w).mul(0.3);
        Tensor unsigned = Retraction.QR_UNSIGNED.apply(w, xi);
        Tensor cosines = unsigned.mul(Retraction.QR.apply(w, xi)).sum(0);
        assertThat(cosines.abs().toDoubles()).as("%s", seed).containsExactly(new double[] {1, 1, 1, 1}, within(1e-13));
        assertThat(unsigned.toDoubles())
                .as("%s", seed)
                .containsExactly(
                        Decompositions.orthonormalColumns(w.add(xi), false).toDoubles());
    }

    @Test
    void noColumnFlipsInThousandStepsOfQr() {
        assertThat(flips(true)).isZero();
    }

    private static int flips(boolean fixSigns) {
        RandomGenerator random = SampleMatrices.random(11);
        int flips = 0;
        try (Scope outer = Scope.open()) {
            Tensor w = point(12, Shape.of(64, 64));
            for (int step = 0; step < 1000; step++) {
                try (Scope scope = Scope.open()) {
                    Tensor z = Stiefel.project(w, SampleMatrices.gaussian(random, 64, 64));
                    Tensor xi = z.mul(0.01 / Math.sqrt(inner(z, z)));
                    Tensor moved = (fixSigns ? Retraction.QR : Retraction.QR_UNSIGNED).apply(w, xi);
                    double[] cosines = w.mul(moved).sum(0).toDoubles();
                    for (double cosine : cosines) {
                        flips += cosine < 0.9 ? 1 : 0;
                    }
                    Tensor former = w;
                    w = scope.keep(moved);
                    outer.release(former);
                    former.close();
                }
            }
        }
        return flips;
    }

    @Test
    void stepOfAnotherShapeIsRejected() {
        Tensor w = point(1, Shape.of(5, 2));
        assertThatThrownBy(() -> Retraction.QR.apply(w, SampleMatrices.gaussian(SampleMatrices.random(1), 2, 5)))
                .hasMessageContaining("[5, 2]")
                .hasMessageContaining("[2, 5]");
    }

    private static Tensor point(long seed, Shape shape) {
        return Stiefel.random(SampleMatrices.random(seed), shape, DType.F64);
    }

    /** A tangent vector of length 1. */
    private static Tensor tangent(long seed, Tensor w) {
        Tensor z = Stiefel.project(
                w,
                SampleMatrices.gaussian(SampleMatrices.random(seed), w.shape().sizes()));
        double norm = Math.sqrt(inner(z, z));
        return norm < 1e-12 ? z : z.mul(1 / norm);
    }

    private static double distance(Tensor a, Tensor b) {
        Tensor difference = a.sub(b);
        return Math.sqrt(inner(difference, difference));
    }

    private static double inner(Tensor a, Tensor b) {
        return a.mul(b).sum().item();
    }
}
