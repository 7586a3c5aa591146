package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.SingleThreaded;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.Stiefel.Metric;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How W moves under each fidelity. */
@ExtendWith(SingleThreaded.class)
class FidelityStepTest {
    private static final Shape SHAPE = Shape.of(6, 6);

    @RandomTest(times = 4)
    void authorsStepIgnoresLearningRateMomentumAndDecay(Seed seed) {
        StiefelOptions stiefel = StiefelOptions.of(Fidelity.AUTHORS);
        try (Scope _ = Scope.open()) {
            double[] plain = walk(new Sgd(0.1, 0, 0, stiefel), Stiefel::random, seed);
            assertThat(walk(new Sgd(7, 0.9, 0.3, stiefel), Stiefel::random, seed))
                    .containsExactly(plain);
            assertThat(walk(new Sgd(0, 0.9, 0, stiefel), Stiefel::random, seed)).containsExactly(plain);
            StiefelOptions ofPaper = StiefelOptions.of(Fidelity.PAPER);
            assertThat(walk(new Sgd(0.1, 0, 0, ofPaper), Stiefel::random, seed))
                    .as("the paper's do")
                    .isNotEqualTo(walk(new Sgd(0.2, 0, 0, ofPaper), Stiefel::random, seed));
        }
    }

    @RandomTest(times = 4)
    void authorsStepIsQrOfWMinusConstantRateTimesGradient(Seed seed) {
        try (Scope _ = Scope.open();
                Parameter w = parameter(Stiefel::random, seed.random());
                Optimizer sgd = new Optimizer(new Sgd(0.1, 0.9, 0.1, StiefelOptions.of(Fidelity.AUTHORS)))) {
            Tensor f = Tensors.gaussian(seed.random(), SHAPE, DType.F64);
            Tensor tangent = Stiefel.gradient(w.value(), f, Metric.EUCLIDEAN).mul(-1e-5);
            Tensor expected = Retraction.QR_UNSIGNED.apply(w.value(), tangent).copy();
            sgd.step(w, f);
            assertThat(RelativeError.of(w.value(), expected)).as("%s", seed).isLessThan(1e-14);
        }
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void stepsReachAndStayOnTheManifold(Fidelity fidelity) {
        SplittableRandom random = new SplittableRandom(4);
        try (Scope _ = Scope.open();
                Parameter w = parameter(Stiefel::xavier, random);
                Optimizer sgd = new Optimizer(new Sgd(0.01, 0.9, 0.1, StiefelOptions.of(fidelity)))) {
            assertThat(Stiefel.orthogonalityError(w.value())).isGreaterThan(0.1);
            for (int step = 0; step < 20; step++) {
                sgd.step(w, Tensors.gaussian(random, SHAPE, DType.F64));
                assertThat(Stiefel.orthogonalityError(w.value()))
                        .as("step %d", step)
                        .isLessThan(1e-13);
            }
        }
    }

    /** Where ten steps along random gradients lead. */
    private static double[] walk(Sgd options, Initializer start, Seed seed) {
        SplittableRandom random = seed.random();
        try (Parameter w = parameter(start, random);
                Optimizer sgd = new Optimizer(options)) {
            for (int step = 0; step < 10; step++) {
                sgd.step(w, Tensors.gaussian(random, SHAPE, DType.F64));
            }
            return w.value().toDoubles();
        }
    }

    private static Parameter parameter(Initializer start, SplittableRandom random) {
        return new Parameter(new ParameterSpec("w", SHAPE, Role.STIEFEL, start), start.make(random, SHAPE, DType.F64));
    }
}
