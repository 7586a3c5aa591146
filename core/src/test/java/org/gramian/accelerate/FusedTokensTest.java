package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.accelerate.Equivalence.evaluate;
import static org.gramian.accelerate.Equivalence.on;
import static org.gramian.accelerate.Equivalence.requireClose;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class FusedTokensTest {
    /** Tokens, and parameters of a layer that keep their size. */
    private static List<Tensor> inputs(NetworkLayer layer, int width, int tokens, SplittableRandom random) {
        List<Tensor> inputs = new ArrayList<>(List.of(Tensors.gaussian(random, Shape.of(2, tokens, width), DType.F64)));
        for (ParameterSpec spec : layer.parameters(width)) {
            Tensor drawn = Tensors.gaussian(random, spec.shape(), DType.F64);
            inputs.add(drawn.mul(
                    spec.shape().rank() == 2 ? 1 / Math.sqrt(spec.shape().at(1)) : 1));
        }
        return inputs;
    }

    private static Function<List<Var>, Var> function(NetworkLayer layer, int width) {
        List<ParameterSpec> specs = layer.parameters(width);
        return in -> {
            Map<String, Var> bound = new LinkedHashMap<>();
            for (int i = 0; i < specs.size(); i++) {
                bound.put(specs.get(i).name(), in.get(i + 1));
            }
            return layer.apply(in.getFirst(), Bindings.of(bound));
        };
    }

    /** The plain layer in float64 on the CPU against the fused one in bfloat16, in training and in inference. */
    private static void requireSame(NetworkLayer layer, int width, int tokens, double tolerance, Seed seed) {
        Device gpu = Gpu.required();
        NetworkLayer fused = Acceleration.rewriteAll(List.of(layer), _ -> false).getFirst();
        assertThat(fused).isInstanceOf(NetworkLayer.Fused.class);
        try (Scope _ = Scope.open()) {
            List<Tensor> there = on(gpu, DType.BF16, 1, DType.F32, inputs(layer, width, tokens, seed.random()));
            List<Tensor> here = on(Device.CPU, DType.F64, 1, DType.F64, there);
            List<Tensor> expected = evaluate(function(layer, width), here);
            requireClose(evaluate(function(fused, width), there), expected, tolerance, layer + " of " + width);
            try (Tape tape = Tape.inference()) {
                Var y = function(fused, width)
                        .apply(there.stream().map(tape::constant).toList());
                Tensor value = y.value().to(Device.CPU).to(DType.F64);
                requireClose(List.of(value), expected.subList(0, 1), tolerance, "inference");
            }
        }
    }

    @RandomTest(times = 4)
    void blockEqualsPlainBlock(Seed seed) {
        for (int[] sizes : new int[][] {{64, 4, 1}, {384, 6, 197}, {96, 12, 50}, {200, 1, 33}}) {
            for (boolean layerScale : new boolean[] {false, true}) {
                VisionTransformer.Block block = new VisionTransformer.Block("b", sizes[1], layerScale);
                requireSame(block, sizes[0], sizes[2], 6e-2, seed);
            }
        }
    }

    /** Deterministic algorithms do not allow flash attention. */
    @RandomTest(times = 2)
    void blockWithoutFlashAttentionEqualsPlainBlock(Seed seed) {
        Gpu.required();
        Libtorch.load().with(GpuMath.EXACT, () -> {
            requireSame(new VisionTransformer.Block("b", 6, false), 384, 50, 6e-2, seed);
            return 0;
        });
    }

    /** Widths on both sides of those of the kernels. */
    @RandomTest(times = 2)
    void normEqualsPlainNorm(Seed seed) {
        for (int width : new int[] {4, 30, 100, 384, 768, 1024, 1028}) {
            requireSame(new VisionTransformer.Norm("norm"), width, 197, 1e-2, seed);
        }
    }

    /** One launch rounds as many do. */
    @RandomTest(times = 4)
    void parametersAreRoundedToNearest(Seed seed) {
        Device gpu = Gpu.required();
        for (long[] sizes : new long[][] {{8}, {384, 1152, 8, 16}}) {
            try (Scope _ = Scope.open()) {
                List<Tensor> sources = LongStream.of(sizes)
                        .mapToObj(size -> Tensors.gaussian(seed.random(), Shape.of(size, 3), DType.F64)
                                .to(DType.F32)
                                .to(gpu))
                        .toList();
                assertThat(ElementwiseKernels.isSupported(sources)).isTrue();
                double[] expected = sources.stream()
                        .flatMapToDouble(
                                source -> Arrays.stream(source.to(DType.BF16).toDoubles()))
                        .toArray();
                assertThat(ElementwiseKernels.rounded(sources).toDoubles()).containsExactly(expected);
            }
        }
    }

    @Test
    void cpuUsesPlainBlock() {
        VisionTransformer.Block block = new VisionTransformer.Block("b", 2, true);
        NetworkLayer fused = Acceleration.rewriteAll(List.of(block), _ -> false).getFirst();
        try (Scope _ = Scope.open()) {
            List<Tensor> inputs = inputs(block, 8, 5, new SplittableRandom(3));
            requireClose(
                    evaluate(function(fused, 8), inputs), evaluate(function(block, 8), inputs), 1e-15, "on the CPU");
        }
    }
}
