package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;

/** Kernels and fused operators for tokens on a GPU against the operators of the CPU in float64. */
class GpuTokensTest {
    /** The value and the gradients of all inputs. */
    private static List<double[]> step(Function<List<Var>, Var> function, List<Tensor> inputs, Tensor upstream) {
        try (Tape tape = Tape.recording()) {
            List<Var> variables = inputs.stream().map(tape::variable).toList();
            Var y = function.apply(variables);
            List<double[]> all = new ArrayList<>(List.of(y.value().toDoubles()));
            try (Gradients gradients = tape.backward(y, upstream)) {
                variables.forEach(each -> all.add(gradients.of(each).toDoubles()));
            }
            return all;
        }
    }

    private static Tensor drawn(Seed seed, long... sizes) {
        return Tensors.gaussian(seed.random(), Shape.of(sizes), DType.F64);
    }

    /** @param inputs the first {@code tokens} of them in a type, the others are parameters in float32 */
    private static void requireSame(
            Function<List<Var>, Var> function, Seed seed, DType type, int tokens, double tolerance, Tensor... inputs) {
        Device gpu = Gpu.required();
        List<Tensor> there = IntStream.range(0, inputs.length)
                .mapToObj(i -> inputs[i].to(i < tokens ? type : DType.F32).to(gpu))
                .toList();
        List<Tensor> here =
                there.stream().map(input -> input.to(Device.CPU).to(DType.F64)).toList();
        Shape shape;
        try (Tape tape = Tape.inference()) {
            shape = function.apply(here.stream().map(tape::constant).toList()).shape();
        }
        Tensor upstream = drawn(seed, shape.sizes()).to(type).to(gpu);
        List<double[]> expected = step(function, here, upstream.to(Device.CPU).to(DType.F64));
        List<double[]> found = step(function, there, upstream);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(RelativeError.ofNorm(found.get(i), expected.get(i)))
                    .as(i == 0 ? "value" : "gradient of input " + (i - 1))
                    .isLessThan(tolerance);
        }
    }

    /** Widths on both sides of those of the kernels; the input is a residual too, whose gradient is added. */
    @RandomTest(times = 4)
    void layerNormIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        Function<List<Var>, Var> function = v -> v.get(0).add(Tokens.layerNorm(v.get(0), v.get(1), v.get(2), 1e-6));
        for (long width : new long[] {4, 30, 100, 384, 768, 1024, 1028}) {
            for (DType type : List.of(DType.BF16, DType.F32)) {
                try (Scope _ = Scope.open()) {
                    Tensor[] inputs = {drawn(seed, 3, 197, width), drawn(seed, width), drawn(seed, width)};
                    requireSame(function, seed, type, 1, type == DType.BF16 ? 1e-2 : 1e-5, inputs);
                }
            }
        }
    }

    @RandomTest(times = 4)
    void sumAndNormIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        Function<List<Var>, Var> function = v -> {
            Tokens.NormalizedSum both = Tokens.addAndNorm(v.get(0), v.get(1), v.get(2), v.get(3), 1e-6);
            return both.sum().add(both.normalized());
        };
        for (long width : new long[] {30, 384}) {
            for (DType type : List.of(DType.BF16, DType.F32)) {
                try (Scope _ = Scope.open()) {
                    Tensor[] inputs = {
                        drawn(seed, 3, 197, width), drawn(seed, 3, 197, width), drawn(seed, width), drawn(seed, width)
                    };
                    requireSame(function, seed, type, 2, type == DType.BF16 ? 1e-2 : 1e-5, inputs);
                }
            }
        }
    }

    @RandomTest(times = 4)
    void linearLayersAreThoseOfTheOperators(Seed seed) {
        Gpu.required();
        for (long[] sizes : new long[][] {{1, 8, 8}, {16, 384, 1536}, {197, 136, 24}, {77, 30, 20}}) {
            for (DType type : List.of(DType.BF16, DType.F32)) {
                try (Scope _ = Scope.open()) {
                    Tensor[] inputs = {
                        drawn(seed, 3, sizes[0], sizes[1]), drawn(seed, sizes[2], sizes[1]), drawn(seed, sizes[2])
                    };
                    double tolerance = type == DType.BF16 ? 2e-2 : 1e-4;
                    requireSame(v -> Tokens.linear(v.get(0), v.get(1), v.get(2)), seed, type, 1, tolerance, inputs);
                    for (Gelu form : Gelu.values()) {
                        requireSame(
                                v -> Tokens.linearGelu(v.get(0), v.get(1), v.get(2), form),
                                seed,
                                type,
                                1,
                                tolerance,
                                inputs);
                    }
                }
            }
        }
    }

    @RandomTest(times = 4)
    void selfAttentionIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        Function<List<Var>, Var> function = v -> Tokens.selfAttention(v.get(0), v.get(1), v.get(2), 6);
        for (long tokens : new long[] {1, 50, 197}) {
            try (Scope _ = Scope.open()) {
                Tensor weight;
                try (Tape tape = Tape.inference()) {
                    weight = tape.constant(drawn(seed, 1152, 384))
                            .mul(0.05)
                            .value()
                            .copy();
                }
                Tensor[] inputs = {drawn(seed, 2, tokens, 384), weight, drawn(seed, 1152)};
                requireSame(function, seed, DType.BF16, 1, 3e-2, inputs);
                requireSame(function, seed, DType.F32, 1, 1e-3, inputs);
                Libtorch.load().with(GpuMath.EXACT, () -> {
                    requireSame(function, seed, DType.BF16, 1, 3e-2, inputs);
                    return 0;
                });
            }
        }
    }

    /** Another number of keys than of queries, heads that are no multiple of 8 wide, and keys whose rows are not aligned. */
    @RandomTest(times = 4)
    void attentionIsThatOfTheOperators(Seed seed) {
        Gpu.required();
        Function<List<Var>, Var> plain = v -> Tokens.attention(v.get(0), v.get(1), v.get(2), 0.2);
        Function<List<Var>, Var> shifted =
                v -> Tokens.attention(v.get(0), v.get(1).slice(3, 1, 33), v.get(2), 0.2);
        try (Scope _ = Scope.open()) {
            requireSame(
                    plain,
                    seed,
                    DType.BF16,
                    3,
                    6e-2,
                    drawn(seed, 2, 3, 130, 64),
                    drawn(seed, 2, 3, 300, 64),
                    drawn(seed, 2, 3, 300, 64));
            requireSame(
                    plain,
                    seed,
                    DType.BF16,
                    3,
                    6e-2,
                    drawn(seed, 2, 3, 13, 20),
                    drawn(seed, 2, 3, 30, 20),
                    drawn(seed, 2, 3, 30, 20));
            requireSame(
                    shifted,
                    seed,
                    DType.BF16,
                    3,
                    6e-2,
                    drawn(seed, 2, 3, 13, 32),
                    drawn(seed, 2, 3, 30, 34),
                    drawn(seed, 2, 3, 30, 32));
        }
    }

    /** One launch rounds as many do: also tensors that are no multiple of a vector, for which there is no kernel. */
    @RandomTest(times = 4)
    void manyTensorsAreRoundedAsOne(Seed seed) {
        Device gpu = Gpu.required();
        for (long[] sizes : new long[][] {{8}, {384, 1152, 8, 16}, {24, 7, 9}}) {
            try (Scope _ = Scope.open()) {
                List<Tensor> sources = LongStream.of(sizes)
                        .mapToObj(size -> drawn(seed, size, 3).to(DType.F32).to(gpu))
                        .toList();
                List<Tensor> found = Tensors.to(sources, DType.BF16);
                for (int i = 0; i < sizes.length; i++) {
                    assertThat(found.get(i).shape()).isEqualTo(sources.get(i).shape());
                    assertThat(found.get(i).toDoubles())
                            .containsExactly(sources.get(i).to(DType.BF16).toDoubles());
                }
            }
        }
    }
}
