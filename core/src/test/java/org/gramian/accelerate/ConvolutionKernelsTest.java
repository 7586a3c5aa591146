package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.accelerate.Equivalence.evaluate;
import static org.gramian.accelerate.Equivalence.on;
import static org.gramian.accelerate.Equivalence.requireRounded;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.stream.Stream;
import org.gramian.accelerate.FusedConvolution.Epilogue;
import org.gramian.accelerate.FusedConvolution.Filters;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.gramian.testing.SmallIntegers;
import org.junit.jupiter.api.extension.ExtendWith;

/** Small integers, of which all sums are exact in float32, so that only the last rounding remains. */
@ExtendWith(Scoped.class)
class ConvolutionKernelsTest {
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
        List<Tensor> inputs = inputs(
                random,
                Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(20), wide),
                Shape.of(filters, channels, window, window));
        assertThat(StemKernels.isSupported(prepared(inputs.get(0), gpu), prepared(inputs.get(1), gpu), convolution))
                .as("kernels are used")
                .isTrue();
        requireEqual(random, gpu, inputs, convolution, false);
    }

    @RandomTest(times = 24)
    void depthwiseConvolutionEqualsPlainLayers(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        int window = 3 + random.nextInt(5);
        long channels = 8L * (1 + random.nextInt(45));
        Convolution convolution = new Convolution(1 + random.nextInt(2), window / 2, Math.toIntExact(channels));
        List<Tensor> inputs = inputs(
                random,
                Shape.of(1 + random.nextInt(3), channels, window + random.nextInt(17), 7L * (1 + random.nextInt(3))),
                Shape.of(channels, 1, window, window));
        assertThat(DepthwiseKernels.isSupported(
                        prepared(inputs.get(0), gpu),
                        inputs.get(1).to(DType.F32).to(gpu),
                        convolution))
                .as("kernels are used")
                .isTrue();
        requireEqual(random, gpu, inputs, convolution, true);
    }

    private static List<Tensor> inputs(SplittableRandom random, Shape maps, Shape weight) {
        return Stream.of(maps, weight, Shape.of(weight.at(0)))
                .map(shape -> SmallIntegers.draw(random, shape))
                .toList();
    }

    /** Compares values and gradients, the latter of maps only if wanted; the same bits every time. */
    private static void requireEqual(
            SplittableRandom random, Device gpu, List<Tensor> inputs, Convolution convolution, boolean ofMaps) {
        boolean biased = random.nextBoolean();
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        Function<List<Var>, Var> plain =
                in -> FeatureMaps.convolve(in.get(0), in.get(1), biased ? in.get(2) : null, convolution)
                        .activate(activation);
        Function<List<Var>, Var> fused = in -> FusedConvolution.apply(
                in.get(0),
                new Filters(in.get(1), biased ? in.get(2) : null, null),
                convolution,
                new Epilogue(null, activation, null));
        boolean[] wanted = {ofMaps, true, biased};
        List<Tensor> expected = evaluate(plain, inputs, wanted);
        for (int i = 0; i < 2; i++) {
            List<Tensor> found = evaluate(fused, on(gpu, DType.BF16, 1, DType.F32, inputs), wanted);
            requireRounded(found.get(0), expected.get(0), "value");
            requireRounded(found.get(1), expected.get(1), "first gradient");
            for (int k = 2; k < found.size(); k++) {
                assertThat(found.get(k).toDoubles())
                        .containsExactly(expected.get(k).toDoubles());
            }
        }
    }

    @RandomTest(times = 3)
    void nanStaysNan(Seed seed) {
        Device gpu = Gpu.required();
        Tensor images = prepared(SmallIntegers.draw(seed.random(), Shape.of(2, 3, 9, 9)), gpu);
        images.slice(0, 1, 2).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 3, 9, 9), DType.BF16, gpu));
        Tensor weight = prepared(SmallIntegers.draw(seed.random(), Shape.of(32, 3, 3, 3)), gpu);
        double[] ofStem = StemKernels.apply(images, weight, null, new Convolution(1, 1, 1), Activation.RELU6)
                .toDoubles();
        requireNan(ofStem, i -> i >= ofStem.length / 2);
        Tensor maps = prepared(SmallIntegers.draw(seed.random(), Shape.of(1, 8, 5, 5)), gpu);
        maps.slice(1, 3, 4).copyFrom(Tensors.full(Double.NaN, Shape.of(1, 1, 5, 5), DType.BF16, gpu));
        Tensor filters = SmallIntegers.draw(seed.random(), Shape.of(8, 1, 3, 3))
                .to(DType.F32)
                .to(gpu);
        requireNan(
                DepthwiseKernels.apply(maps, filters, null, new Convolution(1, 1, 8), Activation.RELU6)
                        .toDoubles(),
                i -> i / 25 == 3);
    }

    private static void requireNan(double[] found, IntPredicate where) {
        for (int i = 0; i < found.length; i++) {
            assertThat(Double.isNaN(found[i])).as("element %d", i).isEqualTo(where.test(i));
        }
    }
}
