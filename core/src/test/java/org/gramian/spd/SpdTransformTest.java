package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.random.RandomGenerator;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(SingleThreaded.class)
class SpdTransformTest {
    @ParameterizedTest
    @EnumSource(Upstream.class)
    void gradientsOfMatricesAndWeightAgreeWithDifferences(Upstream upstream) {
        for (long size = 1; size <= 5; size++) {
            try (Scope _ = Scope.open()) {
                RandomGenerator random = SampleMatrices.random(size);
                Tensor k = SampleMatrices.symmetric(random, 3, 5);
                Tensor w = SampleMatrices.gaussian(random, 5, size);
                GradientCheck.Report report = GradientCheck.of(x -> SpdTransform.apply(x.get(0), x.get(1)))
                        .withUpstream(upstream)
                        .check(k, w);
                assertThat(report.worst())
                        .as("5 -> %d, %s upstream: %s", size, upstream, report)
                        .isLessThan(1e-6);
            }
        }
    }

    @RandomTest(times = 8)
    void weightOfFullRankKeepsMatricesPositiveDefinite(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open()) {
            Tensor k = SampleMatrices.positiveDefinite(random, 3, 8);
            Tensor w = SampleMatrices.gaussian(random, 8, 5);
            Tensor y = transformed(k, w);
            assertThat(RelativeError.of(SampleMatrices.transpose(y), y))
                    .as("%s", seed)
                    .isLessThan(1e-14);
            assertThat(SampleMatrices.spectrum(y).smallest()).as("%s", seed).isGreaterThan(0);
        }
    }

    @RandomTest(times = 8)
    void orthonormalColumnsKeepSpectrumWithinItsBounds(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open()) {
            Tensor k = SampleMatrices.positiveDefinite(random, 1, 8);
            SampleMatrices.Spectrum before = SampleMatrices.spectrum(k);
            SampleMatrices.Spectrum after =
                    SampleMatrices.spectrum(transformed(k, Stiefel.random(random, Shape.of(8, 3), DType.F64)));
            assertThat(after.smallest()).as("%s", seed).isGreaterThanOrEqualTo(before.smallest() - 1e-12);
            assertThat(after.largest()).as("%s", seed).isLessThanOrEqualTo(before.largest() + 1e-12);
            SampleMatrices.Spectrum rotated =
                    SampleMatrices.spectrum(transformed(k, Stiefel.random(random, Shape.of(8, 8), DType.F64)));
            assertThat(rotated.smallest()).as("%s", seed).isCloseTo(before.smallest(), within(1e-12));
        }
    }

    @Test
    void weightThatDoesNotFitIsRejectedWithBothShapes() {
        try (Scope _ = Scope.open()) {
            RandomGenerator random = SampleMatrices.random(1);
            Tensor k = SampleMatrices.positiveDefinite(random, 2, 4);
            assertThatThrownBy(() -> transformed(k, SampleMatrices.gaussian(random, 4, 5)))
                    .has(facts("C", "4"))
                    .hasMessageContaining("C' = 5");
            assertThatThrownBy(() -> transformed(k, SampleMatrices.gaussian(random, 3, 2)))
                    .hasMessageContaining("[2, 4, 4]")
                    .hasMessageContaining("[3, 2]");
        }
    }

    private static Tensor transformed(Tensor k, Tensor w) {
        try (Tape tape = Tape.inference()) {
            return SpdTransform.apply(tape.constant(k), tape.constant(w))
                    .value()
                    .copy();
        }
    }
}
