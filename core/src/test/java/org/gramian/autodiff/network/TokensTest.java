package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Functions of tokens against their formulas, and their gradients against differences. */
@ExtendWith(Scoped.class)
class TokensTest {
    private final SplittableRandom random = new SplittableRandom(5);

    private Tensor drawn(long... sizes) {
        return Tensors.gaussian(random, Shape.of(sizes), DType.F64);
    }

    private static double worst(Function<List<Var>, Var> function, Tensor... inputs) {
        return GradientCheck.of(function).check(inputs).worst();
    }

    private static Tensor value(Function<List<Var>, Var> function, Tensor... inputs) {
        try (Tape tape = Tape.inference()) {
            return function.apply(List.of(inputs).stream().map(tape::constant).toList())
                    .value()
                    .copy();
        }
    }

    @Test
    void layerNormHasMeanAndVarianceOfItsParameters() {
        Tensor x = drawn(2, 3, 7);
        double[] found = value(v -> norm(v), x, Tensors.full(2, Shape.of(7), DType.F64, x.device()), ones(7))
                .toDoubles();
        for (int row = 0; row < 6; row++) {
            double mean = 0;
            double square = 0;
            for (int i = 0; i < 7; i++) {
                mean += found[row * 7 + i] / 7;
                square += found[row * 7 + i] * found[row * 7 + i] / 7;
            }
            assertThat(mean).isCloseTo(1, within(1e-12));
            assertThat(square - mean * mean).isCloseTo(4, within(1e-4));
        }
    }

    private static Tensor ones(long size) {
        return Tensors.full(1, Shape.of(size), DType.F64, Device.CPU);
    }

    private static Var norm(List<Var> v) {
        return Tokens.layerNorm(v.get(0), v.get(1), v.get(2), 1e-6);
    }

    /** Layer norm adds to the gradient of its input, which other functions have given before it and give after it. */
    @Test
    void gradientOfLayerNormBesideOtherFunctionsOfItsInput() {
        assertThat(worst(
                        v -> {
                            Var x = v.getFirst().mul(2);
                            Var before = x.mul(x);
                            Var normal = norm(List.of(x, v.get(1), v.get(2)));
                            Var twice = norm(List.of(x, v.get(2), v.get(1)));
                            return before.add(normal).add(twice.mul(x));
                        },
                        drawn(2, 3, 7),
                        drawn(7),
                        drawn(7)))
                .isLessThan(1e-6);
    }

    @Test
    void layerNormOfChannelsNormalizesEachPosition() {
        Tensor maps = drawn(2, 5, 3, 4);
        Tensor gamma = drawn(5);
        Tensor beta = drawn(5);
        Function<List<Var>, Var> ofChannels = v -> Tokens.layerNormOfChannels(v.get(0), v.get(1), v.get(2), 1e-6);
        Function<List<Var>, Var> ofRows =
                v -> norm(List.of(v.get(0).reshape(2, 5, 12).transpose(1, 2), v.get(1), v.get(2)))
                        .transpose(1, 2)
                        .reshape(2, 5, 3, 4);
        assertTensor(value(ofChannels, maps, gamma, beta)).isCloseTo(value(ofRows, maps, gamma, beta), 1e-12);
        assertThat(worst(ofChannels, maps, gamma, beta)).isLessThan(1e-6);
    }

    @ParameterizedTest
    @EnumSource
    void gradientOfGelu(Gelu form) {
        assertThat(worst(v -> Tokens.gelu(v.getFirst(), form), drawn(3, 11))).isLessThan(1e-6);
    }

    /** Both formulas, computed with {@code math.erf} and {@code math.tanh} of Python. */
    @Test
    void geluIsItsFormula() {
        Tensor x = Tensors.of(new double[] {-3, -1, 0, 0.5, 2}, Shape.of(5), DType.F64);
        double[] erf = {-0.0040496941, -0.1586552539, 0, 0.3457312306, 1.9544997361};
        double[] tanh = {-0.0036373921, -0.1588080094, 0, 0.3457140098, 1.9545976941};
        assertTensor(value(v -> Tokens.gelu(v.getFirst(), Gelu.ERF), x))
                .isCloseTo(Tensors.of(erf, Shape.of(5), DType.F64), 1e-8);
        assertTensor(value(v -> Tokens.gelu(v.getFirst(), Gelu.TANH), x))
                .isCloseTo(Tensors.of(tanh, Shape.of(5), DType.F64), 1e-8);
    }

    @Test
    void gradientOfSoftmaxAndLinearAndMatrixProducts() {
        assertThat(worst(v -> Tokens.softmax(v.getFirst()), drawn(2, 3, 5))).isLessThan(1e-6);
        assertThat(worst(v -> Tokens.linear(v.get(0), v.get(1), v.get(2)), drawn(2, 3, 5), drawn(4, 5), drawn(4)))
                .isLessThan(1e-6);
        assertThat(worst(
                        v -> Tokens.linear(v.get(0).permute(1, 0, 2), v.get(1), v.get(2)),
                        drawn(2, 3, 5),
                        drawn(4, 5),
                        drawn(4)))
                .isLessThan(1e-6);
        assertThat(worst(v -> v.get(0).matmul(v.get(1)), drawn(2, 3, 4, 5), drawn(2, 3, 5, 2)))
                .isLessThan(1e-6);
    }

    private static Var composed(List<Var> v, double scale) {
        Var scores = v.get(0).matmul(v.get(1).transpose(2, 3)).mul(scale);
        return Tokens.softmax(scores).matmul(v.get(2));
    }

    @Test
    void attentionIsItsFormula() {
        Tensor[] inputs = {drawn(2, 3, 5, 4), drawn(2, 3, 6, 4), drawn(2, 3, 6, 4)};
        Function<List<Var>, Var> fused = v -> Tokens.attention(v.get(0), v.get(1), v.get(2), 0.3);
        assertTensor(value(fused, inputs)).isCloseTo(value(v -> composed(v, 0.3), inputs), 1e-12);
        assertThat(worst(fused, inputs)).isLessThan(1e-6);
    }

    @Test
    void selfAttentionSplitsItsInputIntoHeads() {
        Tensor[] inputs = {drawn(2, 5, 3 * 2 * 4)};
        Function<List<Var>, Var> joined = v -> Tokens.selfAttention(v.getFirst(), 2);
        Function<List<Var>, Var> parts = v -> {
            Var joint = v.getFirst();
            List<Var> heads = List.of(0, 8, 16).stream()
                    .map(start -> joint.slice(2, start, start + 8))
                    .map(part -> part.split(2, 2, 4).permute(0, 2, 1, 3))
                    .toList();
            return composed(heads, 0.5).permute(0, 2, 1, 3).reshape(2, 5, 8);
        };
        assertTensor(value(joined, inputs)).isCloseTo(value(parts, inputs), 1e-12);
        assertThat(worst(joined, inputs)).isLessThan(1e-6);
    }

    /** Parameters stay float32 and get float32 gradients; the values are rounded to 8 bits. */
    @Test
    void tokensInBfloat16UseFloat32Parameters() {
        Tensor x = drawn(2, 5, 12).to(DType.BF16);
        Tensor weight = drawn(24, 12).to(DType.F32);
        Tensor bias = drawn(24).to(DType.F32);
        Tensor gamma = drawn(12).to(DType.F32);
        try (Tape tape = Tape.recording()) {
            Var w = tape.variable(weight);
            Var g = tape.variable(gamma);
            Var b = tape.variable(bias);
            Var normal = Tokens.layerNorm(tape.constant(x), g, tape.constant(gamma), 1e-6);
            Var y = Tokens.gelu(Tokens.linear(normal, w, b), Gelu.ERF);
            assertThat(y.value().type()).isEqualTo(DType.BF16);
            try (Gradients gradients = tape.backward(y.sum())) {
                assertThat(List.of(gradients.of(w), gradients.of(g), gradients.of(b)))
                        .extracting(Tensor::type)
                        .containsOnly(DType.F32);
            }
        }
    }

    @Test
    void wrongShapesAreNamed() {
        Tensor x = drawn(2, 5, 12);
        assertThatThrownBy(() -> value(v -> Tokens.selfAttention(v.getFirst(), 5), x))
                .hasMessageContaining("[n, t, 3·5·e], found F64[2, 5, 12]");
        assertThatThrownBy(() -> value(v -> Tokens.linear(v.get(0), v.get(1), v.get(2)), x, drawn(4, 11), drawn(4)))
                .hasMessageContaining("expected [.., d], weights [k, d] and a bias [k]");
        assertThatThrownBy(() -> value(TokensTest::norm, x, drawn(12), drawn(11)))
                .hasMessageContaining("one scale and one offset per column");
        assertThatThrownBy(() -> value(v -> v.getFirst().permute(0, 1, 1), x)).hasMessageContaining("each dimension");
    }
}
