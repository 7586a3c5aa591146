package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.SpectralFunction.Log;
import org.gramian.spd.SpectralFunction.Power;
import org.gramian.spd.SpectralFunction.ReEig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(SingleThreaded.class)
@ExtendWith(Scoped.class)
class SpectralTest {
    private static final double FLOOR = SpectralFunction.DEFAULT_FLOOR;
    private static final List<SpectralFunction> FUNCTIONS =
            List.of(new ReEig(0.5), new Log(FLOOR), new Power(0.5, FLOOR), new Power(0.3, FLOOR), new Power(1, FLOOR));

    /** Spectra to differentiate at: apart, equal, nearly equal, all equal, partly below the floor, of several sizes. */
    private static final List<double[]> SPECTRA = List.of(
            new double[] {0.2, 0.9, 1.7, 3.1, 6},
            new double[] {2, 2, 2, 0.7, 5},
            new double[] {2, 2, 0.25, 0.25, 0.25},
            new double[] {1.5, 1.5, 1.5, 1.5},
            new double[] {2, 2 + 1e-9, 2 + 1e-6, 2 + 1e-5, 2 + 1e-4},
            new double[] {1, 1 + 2e-5, 1 - 2e-5, 0.9},
            new double[] {-1.5, -0.25, 0.9, 4},
            new double[] {-0.4, -0.4, 3, 3},
            new double[] {0.01, 1, 30});

    static Stream<Arguments> functionsAndUpstreams() {
        return FUNCTIONS.stream()
                .flatMap(function -> Stream.of(Upstream.values()).map(upstream -> Arguments.of(function, upstream)));
    }

    @ParameterizedTest
    @MethodSource("functionsAndUpstreams")
    void gradientAgreesWithDifferencesWhetherEigenvaluesCoincideOrNot(SpectralFunction function, Upstream upstream) {
        int step =
                Boolean.getBoolean("gramian.full") ? 1 : Upstream.values().length; // every spectrum for some upstream
        for (int i = upstream.ordinal() % step; i < SPECTRA.size(); i += step) {
            double[] spectrum = SPECTRA.get(i);
            try (Scope _ = Scope.open()) {
                Tensor s = SampleMatrices.withEigenvalues(SampleMatrices.random(41), spectrum);
                GradientCheck.Report report = GradientCheck.of(x -> function.apply(x.getFirst()))
                        .withUpstream(upstream)
                        .check(s);
                assertThat(report.worst())
                        .as("%s at %s, %s upstream: %s", function, Arrays.toString(spectrum), upstream, report)
                        .isLessThan(1e-6);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("functionsAndUpstreams")
    void matrixThatIsNotSymmetricCountsAsItsSymmetricPart(SpectralFunction function, Upstream upstream) {
        RandomGenerator random = SampleMatrices.random(47);
        Tensor a = SampleMatrices.gaussian(random, 1, 4, 4);
        Tensor skew = a.sub(a.transpose());
        Tensor s = SampleMatrices.withEigenvalues(random, 1, 2, 4, 7).add(skew);
        GradientCheck.Report report = GradientCheck.of(x -> function.apply(x.getFirst()))
                .withUpstream(upstream)
                .check(s);
        assertThat(report.worst())
                .as("%s, %s upstream: %s", function, upstream, report)
                .isLessThan(1e-6);
    }

    @Test
    void belowFloorDerivativeIsZero() {
        for (SpectralFunction function : List.of(new ReEig(0.5), new Log(0.5), new Power(0.5, 0.5))) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.recording()) {
                Var s = tape.variable(SampleMatrices.withEigenvalues(SampleMatrices.random(3), -2, -1, 0, 0.25));
                Tensor g = SampleMatrices.gaussian(SampleMatrices.random(4), 1, 4, 4);
                try (Gradients gradients = tape.backward(function.apply(s), g)) {
                    assertThat(gradients.of(s).largestMagnitude())
                            .as("%s", function)
                            .isZero();
                }
            }
        }
    }

    /** As the covariance of more channels than positions: what rounding leaves of zero eigenvalues must not matter. */
    @RandomTest(times = 4)
    void roundingOfLargeSingularMatrixPlaysNoPart(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        for (SpectralFunction function : List.of(new Log(FLOOR), new Power(0.5, FLOOR), new Power(0.3, FLOOR))) {
            try (Scope _ = Scope.open();
                    Tape tape = Tape.recording()) {
                Tensor s = SampleMatrices.withEigenvalues(random, 0, 0, 0, 0, 300, 500, 800, 1000);
                Tensor noise = SampleMatrices.symmetric(random, 1, 8).mul(2 * 0x1p-23 * 1000 / 8);
                Var one = tape.variable(s.to(DType.F32));
                Var other = tape.variable(s.add(noise).to(DType.F32));
                Tensor g = SampleMatrices.gaussian(random, 1, 8, 8).to(DType.F32);
                Var y = function.apply(one);
                assertThat(RelativeError.of(function.apply(other).value(), y.value()))
                        .as("%s, %s", function, seed)
                        .isLessThan(1e-4);
                try (Gradients gradients = tape.backward(y, g)) {
                    double steepest = function.slope(Tensors.full(300, Shape.of(1), DType.F32, Device.CPU))
                            .item();
                    assertThat(gradients.of(one).largestMagnitude())
                            .as("no slope of the noise, %s, %s", function, seed)
                            .isLessThan(300 * steepest);
                }
            }
        }
    }

    @Test
    void everyMatrixOfBatchHasFloorOfItsOwn() {
        Tensor small = SampleMatrices.withEigenvalues(SampleMatrices.random(5), 1e-4, 1, 2)
                .to(DType.F32);
        Tensor large = SampleMatrices.withEigenvalues(SampleMatrices.random(6), 1e-4, 1, 1e4)
                .to(DType.F32);
        Tensor both = apply(new Log(FLOOR), Tensors.concat(List.of(small, large), 0));
        assertThat(RelativeError.of(both.slice(0, 0, 1), apply(new Log(FLOOR), small)))
                .isLessThan(1e-6);
        assertThat(SampleMatrices.spectrum(both.slice(0, 1, 2).to(DType.F64)).smallest())
                .isCloseTo(Math.log(SpectralFunction.ROUNDINGS * 0x1p-23 * 1e4), within(1e-3));
    }

    @RandomTest(times = 8)
    void logarithmUndoesExponential(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        double[] x = random.doubles(6, -3, 3).toArray();
        try (Scope _ = Scope.open()) {
            Tensor s = SampleMatrices.withEigenvalues(
                    SampleMatrices.random(seed),
                    DoubleStream.of(x).map(Math::exp).toArray());
            Tensor expected = SampleMatrices.withEigenvalues(SampleMatrices.random(seed), x);
            assertThat(RelativeError.of(apply(new Log(FLOOR), s), expected))
                    .as("%s", seed)
                    .isLessThan(1e-12);
        }
    }

    @RandomTest(times = 8)
    void powersOfPowerMultiplyAndFirstPowerIsIdentity(Seed seed) {
        Tensor s = SampleMatrices.positiveDefinite(SampleMatrices.random(seed), 2, 5);
        Tensor twice = apply(new Power(0.6, FLOOR), apply(new Power(0.5, FLOOR), s));
        assertThat(RelativeError.of(twice, apply(new Power(0.3, FLOOR), s)))
                .as("%s", seed)
                .isLessThan(1e-13);
        assertThat(RelativeError.of(apply(new Power(1, FLOOR), s), s))
                .as("%s", seed)
                .isLessThan(1e-13);
        Tensor log = apply(new Log(FLOOR), s);
        Tensor logOfPower = apply(new Log(FLOOR), apply(new Power(0.3, FLOOR), s));
        assertThat(RelativeError.of(logOfPower, log.mul(0.3))).as("%s", seed).isLessThan(1e-12);
        Tensor fourth = apply(new Power(0.25, FLOOR), s);
        Tensor square = fourth.matmul(fourth);
        assertThat(RelativeError.of(square.matmul(square), s)).as("%s", seed).isLessThan(1e-13);
    }

    @RandomTest(times = 8)
    void reeigKeepsMatricesDefiniteAndIsIdempotent(Seed seed) {
        Tensor s = SampleMatrices.symmetric(SampleMatrices.random(seed), 3, 6);
        assertThat(SampleMatrices.spectrum(s).smallest()).as("%s", seed).isNegative();
        Tensor once = apply(new ReEig(0.01), s);
        assertThat(SampleMatrices.spectrum(once).smallest()).as("%s", seed).isCloseTo(0.01, within(1e-13));
        assertThat(RelativeError.of(apply(new ReEig(0.01), once), once))
                .as("%s", seed)
                .isLessThan(1e-13);
        Tensor definite = SampleMatrices.positiveDefinite(SampleMatrices.random(seed), 3, 6);
        assertThat(RelativeError.of(apply(new ReEig(0.01), definite), definite))
                .as("a definite matrix stays, %s", seed)
                .isLessThan(1e-13);
    }

    @RandomTest(times = 8)
    void everyFunctionTurnsWithItsMatrix(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        for (SpectralFunction function : FUNCTIONS) {
            try (Scope _ = Scope.open()) {
                Tensor s = SampleMatrices.positiveDefinite(random, 1, 5);
                Tensor q = SampleMatrices.orthogonal(random, 5);
                assertThat(RelativeError.of(apply(function, turned(s, q)), turned(apply(function, s), q)))
                        .as("%s, %s", function, seed)
                        .isLessThan(1e-12);
            }
        }
    }

    @RandomTest(times = 8)
    void everyResultIsSymmetricAndCommutesWithItsMatrix(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        for (SpectralFunction function : FUNCTIONS) {
            try (Scope _ = Scope.open()) {
                Tensor s = SampleMatrices.symmetric(random, 2, 5);
                Tensor y = apply(function, s);
                assertThat(RelativeError.of(SampleMatrices.transpose(y), y))
                        .as("%s, %s", function, seed)
                        .isLessThan(1e-14);
                assertThat(RelativeError.of(s.matmul(y), y.matmul(s)))
                        .as("%s, %s", function, seed)
                        .isLessThan(1e-12);
            }
        }
    }

    @Test
    void constantsOutOfRangeAreRejectedByTheirValue() {
        assertThatThrownBy(() -> new ReEig(0)).has(facts("0.0"));
        assertThatThrownBy(() -> new Log(-1)).has(facts("-1.0"));
        assertThatThrownBy(() -> new Log(Double.NaN)).has(facts("NaN"));
        assertThatThrownBy(() -> new Power(1.5, FLOOR)).has(facts("1.5"));
        assertThatThrownBy(() -> new Power(0, FLOOR)).has(facts("0.0"));
    }

    static Tensor apply(SpectralFunction function, Tensor s) {
        try (Tape tape = Tape.inference()) {
            return function.apply(tape.constant(s)).value().copy();
        }
    }

    private static Tensor turned(Tensor s, Tensor q) {
        return q.matmul(s).matmul(q.transpose());
    }
}
