package org.gramian.autodiff;

import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Numbers of two precisions in one computation. */
@ExtendWith(Scoped.class)
class CastTest {
    @RandomTest(times = 5)
    void castRoundsAndItsGradientComesBackInOldType(Seed seed) {
        Tensor x = seed.gaussian(3, 4).to(DType.F32);
        try (Tape tape = Tape.recording()) {
            Var exact = tape.variable(x);
            Var rounded = exact.to(DType.BF16);
            assertTensor(rounded.value()).isIdenticalTo(x.to(DType.BF16));
            Tensor upstream = Tensors.gaussian(new SplittableRandom(~seed.value()), x.shape(), DType.BF16);
            try (Gradients gradients = tape.backward(rounded, upstream)) {
                assertTensor(gradients.of(exact)).isIdenticalTo(upstream.to(DType.F32));
            }
        }
    }

    @Test
    void anyOtherMixtureIsRefused() {
        try (Tape tape = Tape.inference()) {
            Var maps = tape.constant(Tensors.gaussian(new SplittableRandom(1), Shape.of(1, 2, 3, 3), DType.F64));
            Var weight = tape.constant(Tensors.gaussian(new SplittableRandom(1), Shape.of(1, 2, 3, 3), DType.F32));
            assertRejected(() -> FeatureMaps.convolve(maps, weight, null, Convolution.plain()), "F64", "F32");
        }
    }
}
