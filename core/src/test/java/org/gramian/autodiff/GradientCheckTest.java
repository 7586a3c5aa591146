package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.List;
import org.assertj.core.data.Offset;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.LeakFree;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakFree.class)
@ExtendWith(Scoped.class)
class GradientCheckTest {
    /** The exponential with a gradient that one factor per element makes wrong. */
    private static Var exp(Var x, double... factors) {
        return x.tape().apply(List.of(x), () -> {
            Tensor y = x.value().exp();
            return Result.of(y, (g, wanted) -> {
                Tensor right = g.mul(y);
                return Adjoint.list(right.mul(Tensors.of(factors, x.shape(), DType.F64)));
            });
        });
    }

    private static Tensor ones(Tensor like) {
        return Tensors.full(1, like.shape(), DType.F64, like.device());
    }

    @RandomTest
    void wrongFactorIsFoundWithItsPlace(Seed seed) {
        Tensor x = seed.gaussian(5);
        int wrong = seed.random().nextInt(5);
        double[] factors = {1, 1, 1, 1, 1};
        factors[wrong] = 2;
        GradientCheck.Report report = GradientCheck.of(v -> exp(v.getFirst(), factors))
                .withUpstream(GradientCheckTest::ones)
                .check(x);
        GradientCheck.Deviation deviation = report.deviations().getFirst();
        assertThat(report.worst()).isEqualTo(deviation.error()).isGreaterThan(0.01);
        assertThat(deviation.input()).isZero();
        assertThat(deviation.element()).isEqualTo(wrong);
        assertThat(deviation.expected()).isCloseTo(Math.exp(x.toDoubles()[wrong]), Offset.offset(1e-8));
        assertThat(deviation.found() / deviation.expected()).isCloseTo(2, Offset.offset(1e-8));
    }

    @Test
    void wrongInputOfSeveralIsNamed() {
        Tensor x = Tensors.of(new double[] {0.5, -0.5}, Shape.of(2), DType.F64);
        GradientCheck.Report report = GradientCheck.of(v -> v.get(0).exp().add(exp(v.get(1), 0.5, 0.5)))
                .check(x, x);
        assertThat(report.deviations().get(0).error()).isLessThan(1e-9);
        assertThat(report.deviations().get(1).error()).isGreaterThan(0.4);
        assertThat(report.deviations().get(1).input()).isEqualTo(1);
    }

    @Test
    void gradientThatIsMissingOrNotNumberIsFound() {
        Tensor x = Tensors.of(new double[] {0.5, -0.5, 0.1}, Shape.of(3), DType.F64);
        GradientCheck.Report missing = GradientCheck.of(
                        v -> v.getFirst().tape().constant(v.getFirst().value().exp()))
                .check(x);
        assertThat(missing.worst()).isEqualTo(1);
        GradientCheck.Report broken =
                GradientCheck.of(v -> exp(v.getFirst(), 1, Double.NaN, 1)).check(x);
        assertThat(broken.worst()).isNaN();
        assertThat(broken.deviations().getFirst().element()).isEqualTo(1);
        assertThat(broken.deviations().getFirst().found()).isNaN();
    }

    @Test
    void stepThatLeavesDomainIsShortened() {
        Tensor x = Tensors.of(new double[] {1, 1e-6, 1}, Shape.of(3), DType.F64); // a step of 1e-5 away √x is NaN
        GradientCheck.Report report = GradientCheck.of(v -> v.getFirst().sqrt()).check(x);
        assertThat(report.worst()).isLessThan(1e-4);
    }

    @Test
    void differenceThatIsNotNumberIsNotHiddenByOthers() {
        Tensor x = Tensors.of(new double[] {1, 0.5, 1}, Shape.of(3), DType.F64);
        GradientCheck.Report report = GradientCheck.of(v -> v.getFirst().exp())
                .withReference(v -> v.getFirst().add(-0.6).log())
                .check(x);
        assertThat(report.worst()).isNaN();
    }

    @Test
    void constantPartIsHeldByReference() {
        Tensor x = Tensors.of(new double[] {1, 2, 3}, Shape.of(3), DType.F64);
        GradientCheck check = GradientCheck.of(
                v -> v.getFirst().mul(v.getFirst().tape().constant(v.getFirst().value())));
        assertThat(check.check(x).worst()).isCloseTo(0.5, Offset.offset(1e-6));
        Tensor held = x.copy();
        assertThat(check.withReference(v -> v.getFirst().mul(v.getFirst().tape().constant(held)))
                        .check(x)
                        .worst())
                .isLessThan(1e-9);
    }

    @Test
    void onlyDoublePrecisionIsChecked() {
        Tensor x = Tensors.full(1, Shape.of(2), DType.F32, Device.CPU);
        assertRejected(() -> GradientCheck.of(v -> v.getFirst().exp()).check(x), "F64", "F32[2]");
    }
}
