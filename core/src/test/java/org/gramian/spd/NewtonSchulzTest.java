package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Tape;
import org.gramian.spd.SpectralFunction.Power;
import org.gramian.spd.layer.NewtonSchulz;
import org.gramian.tensor.Scope;
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
class NewtonSchulzTest {
    @ParameterizedTest
    @EnumSource(Upstream.class)
    void gradientAgreesWithDifferencesForAnyNumberOfIterations(Upstream upstream) {
        for (int iterations : new int[] {1, 2, 5, 9}) {
            try (Scope _ = Scope.open()) {
                Tensor s = SampleMatrices.positiveDefinite(SampleMatrices.random(iterations), 2, 5);
                GradientCheck.Report report = GradientCheck.of(x -> NewtonSchulz.squareRoot(x.getFirst(), iterations))
                        .withUpstream(upstream)
                        .check(s);
                assertThat(report.worst())
                        .as("%d iterations, %s upstream: %s", iterations, upstream, report)
                        .isLessThan(1e-6);
            }
        }
    }

    @RandomTest(times = 8)
    void manyIterationsGiveSquareRoot(Seed seed) {
        Tensor s = SampleMatrices.positiveDefinite(SampleMatrices.random(seed), 3, 6);
        Tensor exact = SpectralTest.apply(new Power(0.5, 1e-9), s);
        assertThat(RelativeError.of(root(s, 20), exact)).as("%s", seed).isLessThan(1e-11);
        assertThat(RelativeError.of(root(s, 5), exact))
                .as("five are not exact, %s", seed)
                .isBetween(1e-9, 0.3);
    }

    @Test
    void noIterationsAreRejected() {
        Tensor s = SampleMatrices.positiveDefinite(SampleMatrices.random(1), 1, 3);
        assertThatThrownBy(() -> root(s, 0)).has(facts("0"));
    }

    private static Tensor root(Tensor s, int iterations) {
        try (Tape tape = Tape.inference()) {
            return NewtonSchulz.squareRoot(tape.constant(s), iterations).value().copy();
        }
    }
}
