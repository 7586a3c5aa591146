package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.layer.UpperTriangle;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;

/** The backward formulas that the paper prints, and by what they are wrong. */
@ExtendWith(SingleThreaded.class)
class PrintedGradientTest {
    private static final Bindings NONE = Bindings.of(Map.of());
    private static final List<Sigma> WIDTHS = List.of(new Sigma.Mean(), new Sigma.MeanFull(), new Sigma.Fixed(2));

    @RandomTest(times = 8)
    void kernelGradientAsPrintedIsRightForSymmetricUpstreamGradient(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.gaussian(random, 2, 5, 8);
            Tensor g = SampleMatrices.symmetric(random, 2, 5);
            for (Sigma sigma : WIDTHS) {
                assertThat(RelativeError.of(kernel(sigma, Backward.PRINTED, maps, g), exact(sigma, maps, g)))
                        .as("%s, %s", sigma, seed)
                        .isLessThan(1e-13);
            }
        }
    }

    @RandomTest(times = 8)
    void kernelGradientAsPrintedIsWrongForAnyOther(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.gaussian(random, 2, 5, 8);
            Tensor g = SampleMatrices.gaussian(random, 2, 5, 5);
            for (Sigma sigma : WIDTHS) {
                assertThat(RelativeError.of(kernel(sigma, Backward.PRINTED, maps, g), exact(sigma, maps, g)))
                        .as("%s, %s", sigma, seed)
                        .isGreaterThan(0.01);
            }
        }
    }

    /** {@code 4 Σ_j G_ij (f_i − f_j)}, {@code G = dL/dK∘K/(−2σ²)}, in plain loops. */
    @RandomTest(times = 8)
    void kernelGradientAsPrintedIsFourTimesRowsOfG(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        double sigma = 0.5 + 3 * random.nextDouble();
        try (Scope _ = Scope.open()) {
            Tensor maps = SampleMatrices.gaussian(random, 1, 5, 8);
            Tensor g = SampleMatrices.gaussian(random, 1, 5, 5);
            double[][] f = SampleMatrices.rows(maps, 0);
            double[][] upstream = SampleMatrices.rows(g, 0);
            double[][] expected = new double[5][8];
            for (int i = 0; i < 5; i++) {
                for (int j = 0; j < 5; j++) {
                    double square = 0;
                    for (int p = 0; p < 8; p++) {
                        square += (f[i][p] - f[j][p]) * (f[i][p] - f[j][p]);
                    }
                    double ofDistance = upstream[i][j] * Math.exp(-square / (2 * sigma * sigma)) / (-2 * sigma * sigma);
                    for (int p = 0; p < 8; p++) {
                        expected[i][p] += 4 * ofDistance * (f[i][p] - f[j][p]);
                    }
                }
            }
            double[] found =
                    kernel(new Sigma.Fixed(sigma), Backward.PRINTED, maps, g).toDoubles();
            assertThat(RelativeError.of(found, SampleMatrices.flat(expected)))
                    .as("%s", seed)
                    .isLessThan(1e-12);
        }
    }

    @RandomTest(times = 8)
    void vectorizationGradientAsPrintedIsTwiceTrueOneOffDiagonal(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        int size = 1 + random.nextInt(6);
        try (Scope _ = Scope.open()) {
            Tensor y = SampleMatrices.symmetric(random, 2, size);
            Tensor g = SampleMatrices.gaussian(random, 2, UpperTriangle.length(size));
            double[] printed = gradient(x -> UpperTriangle.vectorize(x, Backward.PRINTED), y, g)
                    .toDoubles();
            double[] exact = gradient(UpperTriangle::vectorize, y, g).toDoubles();
            for (int k = 0; k < exact.length; k++) {
                boolean diagonal = k / size % size == k % size;
                assertThat(printed[k])
                        .as("element %d of size %d, %s", k, size, seed)
                        .isCloseTo((diagonal ? 1 : 2) * exact[k], within(1e-15 * (1 + Math.abs(printed[k]))));
            }
        }
    }

    @RandomTest(times = 4)
    void wayForwardDoesNotKnowFormula(Seed seed) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var maps = tape.constant(SampleMatrices.gaussian(SampleMatrices.random(seed), 2, 5, 8));
            Var exact = new Rbf(new Sigma.Mean(), 0).apply(maps, NONE);
            Var printed = new Rbf(new Sigma.Mean(), 0, Backward.PRINTED).apply(maps, NONE);
            assertThat(printed.value().toDoubles())
                    .containsExactly(exact.value().toDoubles());
            assertThat(UpperTriangle.vectorize(exact, Backward.PRINTED).value().toDoubles())
                    .containsExactly(UpperTriangle.vectorize(exact).value().toDoubles());
        }
    }

    private static Tensor exact(Sigma sigma, Tensor maps, Tensor g) {
        return kernel(sigma, Backward.EXACT, maps, g);
    }

    private static Tensor kernel(Sigma sigma, Backward backward, Tensor maps, Tensor g) {
        return gradient(x -> new Rbf(sigma, 0, backward).apply(x, NONE), maps, g);
    }

    private static Tensor gradient(Function<Var, Var> layer, Tensor at, Tensor g) {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(at);
            try (Gradients gradients = tape.backward(layer.apply(x), g)) {
                return gradients.of(x).copy();
            }
        }
    }
}
