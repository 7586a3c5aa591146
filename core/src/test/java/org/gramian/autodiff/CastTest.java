package org.gramian.autodiff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
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

    /** What the node does inside is what casts around a convolution in BF16 do, to the bit. */
    @RandomTest(times = 8)
    void roundedFiltersGetFloat32Gradients(Seed seed) {
        SplittableRandom random = seed.random();
        Convolution convolution = new Convolution(1 + random.nextInt(2), random.nextInt(2), 1);
        Tensor x = Tensors.gaussian(random, Shape.of(2, 3, 6, 7), DType.BF16);
        Tensor w = Tensors.gaussian(random, Shape.of(4, 3, 3, 3), DType.F32);
        Tensor b = Tensors.gaussian(random, Shape.of(4), DType.F32);
        Tensor[] inside = run(x, w, b, v -> FeatureMaps.convolve(v.get(0), v.get(1), v.get(2), convolution));
        Tensor[] outside = run(x, w, b, v -> {
            Var weight = v.get(1).to(DType.BF16);
            return FeatureMaps.convolve(v.get(0), weight, v.get(2).to(DType.BF16), convolution);
        });
        for (int i = 0; i < inside.length; i++) {
            assertTensor(inside[i]).isIdenticalTo(outside[i]);
        }
        assertThat(inside).extracting(Tensor::type).containsExactly(DType.BF16, DType.BF16, DType.F32, DType.F32);
    }

    /** The value, and the gradients of maps, weights and biases. */
    private static Tensor[] run(Tensor x, Tensor w, Tensor b, Function<List<Var>, Var> convolution) {
        try (Tape tape = Tape.recording()) {
            List<Var> inputs = List.of(tape.variable(x), tape.variable(w), tape.variable(b));
            Var y = convolution.apply(inputs);
            Tensor value = y.value().copy();
            Tensor upstream = Tensors.gaussian(new SplittableRandom(3), y.shape(), DType.BF16);
            try (Gradients gradients = tape.backward(y, upstream)) {
                return Stream.concat(
                                Stream.of(value),
                                inputs.stream().map(input -> gradients.of(input).copy()))
                        .toArray(Tensor[]::new);
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
