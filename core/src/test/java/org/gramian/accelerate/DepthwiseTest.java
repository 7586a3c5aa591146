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
class DepthwiseTest {
    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    /** Few windows, since each is compiled for itself. */
    @RandomTest(times = 24)
    void depthwiseConvolutionEqualsPlainLayers(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        int window = 3 + random.nextInt(5);
        long channels = 8L * (1 + random.nextInt(45));
        Convolution convolution = new Convolution(1 + random.nextInt(2), window / 2, Math.toIntExact(channels));
        boolean biased = random.nextBoolean();
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        List<Tensor> inputs = new ArrayList<>();
        for (Shape shape : List.of(
                Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(17), 7L * (1 + random.nextInt(3))),
                Shape.of(channels, 1, window, window),
                Shape.of(channels))) {
            inputs.add(SmallIntegers.draw(random, shape));
        }
        List<Tensor> there = on(gpu, DType.BF16, 1, DType.F32, inputs);
        assertThat(DepthwiseKernels.isSupported(there.get(0).channelsLast(), there.get(1), convolution))
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
        boolean[] wanted = {true, true, biased};
        List<Tensor> expected = evaluate(plain, inputs, wanted);
        List<Tensor> found = evaluate(fused, there, wanted);
        requireRounded(found.get(0), expected.get(0), "value");
        requireRounded(found.get(1), expected.get(1), "gradient of the maps");
        for (int i = 2; i < found.size(); i++) {
            assertThat(found.get(i).toDoubles()).containsExactly(expected.get(i).toDoubles());
        }
    }

    @RandomTest(times = 3)
    void nanStaysNan(Seed seed) {
        Device gpu = Gpu.required();
        Tensor drawn = SmallIntegers.draw(seed.random(), Shape.of(1, 8, 5, 5));
        Tensor maps = drawn.to(DType.BF16).to(gpu).channelsLast();
        maps.slice(1, 3, 4).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 1, 5, 5), DType.BF16, gpu));
        Tensor filters = SmallIntegers.draw(seed.random(), Shape.of(8, 1, 3, 3));
        Tensor weight = filters.to(DType.F32).to(gpu);
        double[] found = DepthwiseKernels.apply(maps, weight, null, new Convolution(1, 1, 8), Activation.RELU6)
                .toDoubles();
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("element %d", i).isEqualTo(i / 25 == 3);
        }
    }
}
