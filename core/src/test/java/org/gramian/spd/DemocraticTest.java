package org.gramian.spd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class DemocraticTest {
    private final Tensor maps = Tensors.gaussian(new SplittableRandom(3), Shape.of(2, 5, 9), DType.F64);

    private static Tensor matrices(Kernel kernel, Tensor maps) {
        try (Tape tape = Tape.inference()) {
            return kernel.apply(tape.constant(maps), Bindings.of(Map.of()))
                    .value()
                    .copy();
        }
    }

    @Test
    void gammaOneIsBilinear() {
        assertTensor(matrices(new Democratic(1, 10, 0.1), maps))
                .isCloseTo(matrices(new Kernel.Bilinear(0.1), maps), 1e-12);
    }

    @Test
    void orthogonalPositionsOfAnyLengthWeighSameWithGammaZero() {
        double[] x = {3, 0, 0, 0, 0.1, 0, 0, 0, 7};
        Tensor k = matrices(new Democratic(0, 10, 0), Tensors.of(x, Shape.of(1, 3, 3), DType.F64));
        double[] diagonal = k.diagonal().contiguous().toDoubles();
        assertThat(diagonal[2]).isCloseTo(diagonal[0], within(1e-5 * diagonal[0]));
        // (0.1)^4 of 7^4/3: the margin of 1e-6 takes part of the balance
        assertThat(diagonal[1]).isBetween(0.05 * diagonal[0], diagonal[0]);
    }

    @Test
    void argumentsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new Democratic(1.5, 10, 0)).hasMessageContaining("1.5");
        assertThatThrownBy(() -> new Democratic(Double.NaN, 10, 0)).hasMessageContaining("NaN");
        assertThatThrownBy(() -> new Democratic(0.5, 0, 0)).hasMessageContaining("at least 1 iteration");
    }
}
