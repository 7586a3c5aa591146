package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class DropCovTest {
    private final SplittableRandom random = new SplittableRandom(4);
    private final Tensor maps =
            Tensors.gaussian(random, Shape.of(3, 40, 6), DType.F64).abs();
    private final Tensor weight = Tensors.gaussian(random, Shape.of(3), DType.F64);
    private final Tensor draws = Tensors.uniform(random, 0, 1, Shape.of(3, 40), DType.F64);

    private Tensor apply(boolean training, Tensor drawn) {
        try (Tape tape = Tape.inference()) {
            Map<String, Var> variables = training
                    ? Map.of("weight", tape.constant(weight), "draws", tape.constant(drawn))
                    : Map.of("weight", tape.constant(weight));
            return new DropCov()
                    .apply(tape.constant(maps), Bindings.of(variables))
                    .value()
                    .copy();
        }
    }

    /** Every channel is 0 or 1/(1 − ρ) of that of prediction, with one ρ for each image. */
    @Test
    void trainingDropsWholeChannelsAndScalesOthers() {
        double[] factors = apply(true, draws).div(apply(false, draws)).toDoubles();
        int dropped = 0;
        for (int image = 0; image < 3; image++) {
            double kept = 0;
            for (int i = 0; i < 40 * 6; i++) {
                double factor = factors[image * 240 + i];
                assertThat(factor).isCloseTo(factors[image * 240 + i / 6 * 6], within(1e-12));
                kept = Math.max(kept, factor);
                dropped += factor == 0 ? 1 : 0;
            }
            for (int i = 0; i < 40; i++) {
                double drawn = draws.toDoubles()[image * 40 + i];
                boolean zero = factors[image * 240 + i * 6] == 0;
                assertThat(zero).isEqualTo(drawn < 1 - 1 / kept);
            }
        }
        assertThat(dropped).isBetween(1, 719);
    }

    /** Kept channels are at most doubled, so that covariances grow by at most 4. */
    @Test
    void atMostHalfOfChannelsAreDropped() {
        for (double factor : apply(true, draws).div(apply(false, draws)).toDoubles()) {
            assertThat(factor).isBetween(0.0, 2 + 1e-12);
        }
    }

    /** Importance and rate do not depend on the scale of features. */
    @Test
    void scaleOfMapsIsKept() {
        try (Tape tape = Tape.inference()) {
            Var large = new DropCov()
                    .apply(
                            tape.constant(maps.mul(1000)),
                            Bindings.of(Map.of("weight", tape.constant(weight), "draws", tape.constant(draws))));
            assertTensor(large.value().mul(1e-3)).isCloseTo(apply(true, draws), 1e-9);
        }
    }

    @Test
    void gradientIsThatOfPredictionTimesMask() {
        Tensor mask = apply(true, draws).div(apply(false, draws));
        try (Tape tape = Tape.recording();
                Tape other = Tape.recording()) {
            Var x = tape.variable(maps);
            Var y = new DropCov()
                    .apply(x, Bindings.of(Map.of("weight", tape.constant(weight), "draws", tape.constant(draws))));
            Var x2 = other.variable(maps);
            Var y2 = new DropCov()
                    .apply(x2, Bindings.of(Map.of("weight", other.constant(weight))))
                    .mul(other.constant(mask));
            Tensor upstream = Tensors.gaussian(random, maps.shape(), DType.F64);
            try (Gradients found = tape.backward(y, upstream);
                    Gradients expected = other.backward(y2, upstream)) {
                assertTensor(found.of(x)).isCloseTo(expected.of(x2), 1e-12);
            }
        }
    }
}
