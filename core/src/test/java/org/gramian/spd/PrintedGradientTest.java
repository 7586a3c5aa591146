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

    @RandomTest(times = 8)
    void vectorizationGradientAsPrintedIsTwiceTrueOneOffDiagonal(Seed seed) {
        RandomGenerator random = SampleMatrices.random(seed);
        int size = 1 + random.nextInt(6);
        try (Scope _ = Scope.open()) {
            Tensor y = SampleMatrices.symmetric(random, 2, size);
            Tensor g = SampleMatrices.gaussian(random, 2, UpperTriangle.length(size));
            double[] printed = gradient(x -> UpperTriangle.vectorize(x, Backward.PRINTED), y, g)
                    .toDoubles();
            double[] exact = gradient(x -> UpperTriangle.vectorize(x, Backward.EXACT), y, g)
                    .toDoubles();
            for (int k = 0; k < exact.length; k++) {
                boolean diagonal = k / size % size == k % size;
                assertThat(printed[k])
                        .as("element %d of size %d, %s", k, size, seed)
                        .isCloseTo((diagonal ? 1 : 2) * exact[k], within(1e-15 * (1 + Math.abs(printed[k]))));
            }
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
