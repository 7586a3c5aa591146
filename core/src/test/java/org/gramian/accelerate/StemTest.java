package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.accelerate.Equivalence.evaluate;
import static org.gramian.accelerate.Equivalence.on;
import static org.gramian.accelerate.Equivalence.requireRounded;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.accelerate.FusedConvolution.Epilogue;
import org.gramian.accelerate.FusedConvolution.Filters;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.junit.jupiter.api.AfterEach;

/** Small integers, of which all sums are exact in float32, so that only the last rounding remains. */
class StemTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    private static Tensor prepared(Tensor tensor, Device gpu) {
        return tensor.to(DType.BF16).to(gpu).channelsLast();
    }

    /** Few windows, since each is compiled for itself. */
    @RandomTest(times = 24)
    void firstConvolutionEqualsPlainLayers(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        int window = List.of(3, 5, 7).get(random.nextInt(3));
        Convolution convolution = new Convolution(1 + random.nextInt(2), random.nextInt(window / 2 + 1), 1);
        long channels = 2 + random.nextInt(3);
        long wide = random.nextInt(3) == 0 ? 250 + random.nextInt(20) : window + random.nextInt(40);
        long filters = 32L * (1 + random.nextInt(2));
        boolean biased = random.nextBoolean();
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        List<Tensor> inputs = new ArrayList<>();
        for (Shape shape : List.of(
                Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(20), wide),
                Shape.of(filters, channels, window, window),
                Shape.of(filters))) {
            inputs.add(SmallIntegers.draw(random, shape));
        }
        assertThat(StemKernels.isSupported(prepared(inputs.get(0), gpu), prepared(inputs.get(1), gpu), convolution))
                .as("kernels are used")
                .isTrue();
        Function<List<Var>, Var> plain =
                in -> FeatureMaps.convolve(in.get(0), in.get(1), biased ? in.get(2) : null, convolution)
                        .activate(activation);
        Function<List<Var>, Var> fused = in -> FusedConvolution.apply(
                in.get(0),
                new Filters(in.get(1), biased ? in.get(2) : null, null),
                convolution,
                new Epilogue(null, activation, null));
        boolean[] wanted = {false, true, biased};
        List<Tensor> expected = evaluate(plain, inputs, wanted);
        for (int i = 0; i < 2; i++) { // the same bits every time
            List<Tensor> found = evaluate(fused, on(gpu, DType.BF16, 1, DType.F32, inputs), wanted);
            requireRounded(found.get(0), expected.get(0), "value");
            requireRounded(found.get(1), expected.get(1), "gradient of the weights");
            if (biased) {
                assertThat(found.get(2).toDoubles())
                        .containsExactly(expected.get(2).toDoubles());
            }
        }
    }

    @RandomTest(times = 3)
    void nanStaysNan(Seed seed) {
        Device gpu = Gpu.required();
        Tensor maps = prepared(SmallIntegers.draw(seed.random(), Shape.of(2, 3, 9, 9)), gpu);
        maps.slice(0, 1, 2).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 3, 9, 9), DType.BF16, gpu));
        Tensor weight = prepared(SmallIntegers.draw(seed.random(), Shape.of(32, 3, 3, 3)), gpu);
        double[] found = StemKernels.apply(maps, weight, null, new Convolution(1, 1, 1), Activation.RELU6)
                .toDoubles();
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("element %d", i).isEqualTo(i >= found.length / 2);
        }
    }
}
