package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Pooling;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

/** The descriptor with float16 products on a GPU against the operators on the CPU in float64. */
class GpuDescriptorTest {
    private static final long CHANNELS = 264;

    private static final List<String> NAMES = List.of("value", "gradient of features", "gradient of W");

    /**
     * Sizes that are multiples of 8 and others, which are computed in TF32; above 128 two kernels compute the vectors. All elements of
     * Y are far from 0, where the root is so steep that rounding decides about gradients.
     */
    @RandomTest(times = 4)
    void valuesAndGradientsAreWithinRoundingOfFloat16(Seed seed) {
        Gpu.required();
        for (long size : new long[] {3, 8, 17, 24, 64, 100, 128, 136, 264}) {
            for (long side : new long[] {2, 7, 14}) {
                for (long n : new long[] {1, 3}) {
                    for (String kernel : List.of("rbf", "rbf:sigma=20")) {
                        try (Scope _ = Scope.open()) {
                            requireClose(kernel, size, Shape.of(n, CHANNELS, side, side), seed);
                        }
                    }
                }
            }
        }
    }

    /** Norms differ by a factor of 30 or more, and maps that are far from the others may be close to each other. */
    @RandomTest(times = 2)
    void mapsMayHaveVeryDifferentNorms(Seed seed) {
        Gpu.required();
        for (long side : new long[] {2, 7, 14}) {
            for (String kernel : List.of("rbf", "rbf:sigma=20")) {
                try (Scope _ = Scope.open()) {
                    Shape shape = Shape.of(3, CHANNELS, side, side);
                    Tensor features = Tensors.uniform(seed.random(), 0, 3, shape, DType.F64);
                    Tensor similar = features.slice(1, 8, 16);
                    Tensor center = features.slice(1, 16, 17).mul(30);
                    similar.copyFrom(similar.mul(0.1).add(center));
                    requireClose(kernel, 64, features, seed);
                    Tensor outlier = Tensors.uniform(seed.random(), 0, 3, shape, DType.F64);
                    outlier.reshape(shape.elements()).slice(0, 7, 8).fill(1000);
                    requireClose(kernel, 64, outlier, seed);
                }
            }
        }
    }

    private static void requireClose(String kernel, long size, Shape shape, Seed seed) {
        requireClose(kernel, size, Tensors.uniform(seed.random(), 0, 3, shape, DType.F64), seed);
    }

    private static void requireClose(String kernel, long size, Tensor features, Seed seed) {
        Pooling pooling = Pooling.parse(kernel + "/spd:" + size + "/relu/triu/root/l2");
        Shape shape = features.shape();
        Tensor upstream = Tensors.gaussian(seed.random(), Shape.of(shape.at(0), size * (size + 1) / 2), DType.F64);
        Tensor weight = positive(size);
        List<double[]> exact = computed(pooling, features, weight, upstream);
        List<double[]> half = inTf32(() -> computed(pooling, onGpu(features), onGpu(weight), onGpu(upstream)));
        for (int k = 0; k < exact.size(); k++) {
            assertThat(RelativeError.ofNorm(half.get(k), exact.get(k)))
                    .as("%s of %s, features %s", NAMES.get(k), pooling.text(), shape)
                    .isLessThan(k == 0 ? 2e-3 : 5e-3);
        }
    }

    /** No element of the convolution's output is near 0, where rounding decides about the gradient of the ReLU. */
    @RandomTest(times = 4)
    void biasAndReluOfConvolutionBelongToNode(Seed seed) {
        Gpu.required();
        for (long[] sizes : new long[][] {{1, 8, 2}, {3, 64, 7}, {3, 17, 7}, {2, 264, 14}, {1, 24, 17}}) {
            try (Scope _ = Scope.open()) {
                Shape shape = Shape.of(sizes[0], CHANNELS, sizes[2], sizes[2]);
                Pooling pooling = Pooling.parse("conv:" + CHANNELS + "/rbf/spd:" + sizes[1] + "/relu/triu/root/l2");
                Tensor signs = Tensors.gaussian(seed.random(), shape, DType.F64).sign();
                Tensor mixing = Tensors.uniform(seed.random(), 0, 1e-3, Shape.of(CHANNELS, CHANNELS), DType.F64);
                List<Tensor> inputs = List.of(
                        signs.mul(Tensors.uniform(seed.random(), 1, 3, shape, DType.F64)),
                        mixing.add(Tensors.identity(CHANNELS, DType.F64, Device.CPU))
                                .reshape(CHANNELS, CHANNELS, 1, 1),
                        Tensors.uniform(seed.random(), -0.3, 0.3, Shape.of(CHANNELS), DType.F64),
                        positive(sizes[1]));
                Tensor upstream =
                        Tensors.gaussian(seed.random(), Shape.of(sizes[0], sizes[1] * (sizes[1] + 1) / 2), DType.F64);
                List<double[]> exact = withConvolution(pooling, inputs, upstream);
                List<double[]> found = inTf32(() -> withConvolution(
                        pooling, inputs.stream().map(GpuDescriptorTest::onGpu).toList(), onGpu(upstream)));
                for (int k = 0; k < exact.size(); k++) {
                    assertThat(RelativeError.ofNorm(found.get(k), exact.get(k)))
                            .as("%s of %s, features %s", k == 0 ? "value" : "gradient " + k, pooling.text(), shape)
                            .isLessThan(k == 0 ? 2e-3 : 5e-3);
                }
            }
        }
    }

    /** Value and the gradients of features, weight and bias of the convolution, and W. */
    private static List<double[]> withConvolution(Pooling pooling, List<Tensor> inputs, Tensor upstream) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            List<Var> variables = inputs.stream().map(tape::variable).toList();
            Var output = Acceleration.rewrite(pooling)
                    .apply(
                            variables.getFirst(),
                            Bindings.of(Map.of(
                                    "conv.weight",
                                    variables.get(1),
                                    "conv.bias",
                                    variables.get(2),
                                    "spd0.weight",
                                    variables.get(3))));
            List<double[]> all = new ArrayList<>(List.of(output.value().toDoubles()));
            try (Gradients gradients = tape.backward(output, upstream)) {
                variables.forEach(each -> all.add(gradients.of(each).toDoubles()));
            }
            return all;
        }
    }

    /** Orthonormal columns without negative elements. */
    private static Tensor positive(long size) {
        double[] values = new double[(int) (CHANNELS * size)];
        for (int row = 0; row < CHANNELS; row++) {
            long column = row % size;
            long rows = (CHANNELS - column + size - 1) / size;
            values[(int) (row * size + column)] = 1 / Math.sqrt(rows);
        }
        return Tensors.of(values, Shape.of(CHANNELS, size), DType.F64);
    }

    @Test
    void needsSizesThatAreMultiplesOf8() {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            Tensor features = onGpu(Tensors.zeros(Shape.of(1, CHANNELS, 5, 1), DType.F32, Device.CPU));
            FusedDescriptor.Form form = new FusedDescriptor.Form(new Rbf(new Sigma.Mean(), 1e-4), true, 1e-5);
            boolean fits = inTf32(() -> GpuDescriptor.isSupported(form, features, onGpu(positive(64))));
            boolean odd = inTf32(() -> GpuDescriptor.isSupported(form, features, onGpu(positive(17))));
            Tensor channelsLast = features.channelsLast();
            boolean permuted = inTf32(() -> GpuDescriptor.isSupported(form, channelsLast, onGpu(positive(64))));
            assertThat(fits && permuted).isTrue();
            assertThat(odd).isFalse();
            assertThat(GpuDescriptor.isSupported(form, features, onGpu(positive(64))))
                    .as("without TF32")
                    .isFalse();
        }
    }

    /** Random values on the GPU for {@code spd:32}. */
    private record Case(Tensor features, Tensor weight, Tensor upstream) {
        static Case random(Seed seed) {
            return new Case(
                    onGpu(Tensors.uniform(seed.random(), 0, 3, Shape.of(4, CHANNELS, 5, 5), DType.F64)),
                    onGpu(Stiefel.random(seed.random(), Shape.of(CHANNELS, 32), DType.F64)),
                    onGpu(Tensors.gaussian(seed.random(), Shape.of(4, 32 * 33 / 2), DType.F64)));
        }

        /** Returns value and gradients for multiples of features and upstream gradient. */
        List<double[]> withFactors(double ofFeatures, double ofUpstream) {
            return computed(
                    Pooling.parse("rbf/spd:32/relu/triu/root/l2"),
                    features.mul(ofFeatures),
                    weight,
                    upstream.mul(ofUpstream));
        }
    }

    @RandomTest(times = 2)
    void gradientsNeitherOverflowNorVanish(Seed seed) {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            Case random = Case.random(seed);
            List<double[]> one = inTf32(() -> random.withFactors(1, 1));
            for (int exponent : new int[] {-60, 60}) {
                double factor = Math.scalb(1.0, exponent);
                List<double[]> scaled = inTf32(() -> random.withFactors(1, factor));
                for (int k = 1; k < 3; k++) {
                    double[] expected = Arrays.stream(one.get(k))
                            .map(value -> value * factor)
                            .toArray();
                    assertThat(RelativeError.ofNorm(scaled.get(k), expected)).isLessThan(1e-5);
                }
            }
        }
    }

    @Test
    void gradientOfZeroStaysZero() {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            List<double[]> found = ofTwoImages(24, 0, 0);
            assertThat(Arrays.stream(found.get(1)).allMatch(value -> value == 0))
                    .isTrue(); // or −0
            assertThat(Arrays.stream(found.get(2)).allMatch(value -> value == 0))
                    .isTrue();
        }
    }

    @Test
    void equalMapsHaveFiniteGradients() {
        Gpu.required();
        try (Scope _ = Scope.open()) {
            Pooling pooling = Pooling.parse("rbf/spd:8/relu/triu/root/l2");
            Tensor features = onGpu(Tensors.full(1, Shape.of(2, CHANNELS, 3, 3), DType.F64, Device.CPU));
            Tensor upstream = onGpu(Tensors.full(1, Shape.of(2, 36), DType.F64, Device.CPU));
            inTf32(() -> computed(pooling, features, onGpu(positive(8)), upstream))
                    .forEach(values -> assertThat(Arrays.stream(values).allMatch(Double::isFinite))
                            .isTrue());
        }
    }

    @Test
    void nanAndInfinityReachOutput() {
        Gpu.required();
        for (int size : new int[] {24, 136}) {
            nanAndInfinityReachOutput(size);
        }
    }

    private static void nanAndInfinityReachOutput(int size) {
        for (double wrong : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
            try (Scope _ = Scope.open()) {
                List<double[]> ofFeatures = ofTwoImages(size, wrong, 1);
                int length = ofFeatures.getFirst().length / 2;
                assertThat(Arrays.stream(ofFeatures.getFirst(), 0, length).allMatch(Double::isNaN))
                        .as("vector of the image with " + wrong)
                        .isTrue();
                assertThat(Arrays.stream(ofFeatures.getFirst(), length, 2 * length)
                                .allMatch(Double::isFinite))
                        .as("vector of the other image")
                        .isTrue();
                assertThat(Arrays.stream(ofFeatures.get(2)).allMatch(Double::isFinite))
                        .as("gradient of W")
                        .isFalse();
                List<double[]> ofUpstream = ofTwoImages(size, 1, wrong);
                for (int k = 1; k < 3; k++) {
                    assertThat(Arrays.stream(ofUpstream.get(k)).allMatch(Double::isFinite))
                            .as(NAMES.get(k) + " for an upstream gradient of " + wrong)
                            .isFalse();
                }
            }
        }
    }

    /**
     * Computes the descriptors of two images.
     *
     * @param size rows of the transformed matrices
     * @param feature one feature of the first image
     * @param upstream one element of the upstream gradient; the others are 0
     */
    private static List<double[]> ofTwoImages(int size, double feature, double upstream) {
        Tensor features = Tensors.uniform(new SplittableRandom(5), 0, 3, Shape.of(2, CHANNELS, 4, 4), DType.F64);
        features.reshape(2 * CHANNELS * 16).slice(0, 7, 8).fill(feature);
        long length = (long) size * (size + 1) / 2;
        Tensor g = Tensors.zeros(Shape.of(2, length), DType.F64, Device.CPU);
        g.reshape(2 * length).slice(0, 11, 12).fill(upstream);
        Pooling pooling = Pooling.parse("rbf/spd:" + size + "/relu/triu/root/l2");
        return inTf32(() -> computed(pooling, onGpu(features), onGpu(positive(size)), onGpu(g)));
    }

    private static Tensor onGpu(Tensor x) {
        return x.to(DType.F32).to(Gpu.required());
    }

    private static <T> T inTf32(Supplier<T> work) {
        Libtorch libtorch = Libtorch.load();
        return libtorch.with(libtorch.math().withTf32(true), work);
    }

    /** Value, gradient of the features and gradient of W. */
    private static List<double[]> computed(Pooling pooling, Tensor features, Tensor weight, Tensor upstream) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var x = tape.variable(features);
            Var w = tape.variable(weight);
            Var output = Acceleration.rewrite(pooling).apply(x, Bindings.of(Map.of("spd0.weight", w)));
            List<double[]> all = new ArrayList<>(List.of(output.value().toDoubles()));
            try (Gradients gradients = tape.backward(output, upstream)) {
                all.add(gradients.of(x).toDoubles());
                all.add(gradients.of(w).toDoubles());
            }
            return all;
        }
    }
}
