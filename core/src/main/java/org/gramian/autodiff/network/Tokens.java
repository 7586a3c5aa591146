package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Attention;
import org.gramian.tensor.Attention.Attended;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.LayerNorm;
import org.gramian.tensor.LayerNorm.Normalized;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Differentiable functions of tokens {@code [n, t, d]}: linear layer, layer norm, GELU and attention.
 *
 * <p>Tokens in {@link DType#BF16} are processed in mixed precision, as feature maps are: float32 parameters are cast for a
 * product; layer norm and softmax compute in float32.
 */
public final class Tokens {
    private Tokens() {}

    /** Computes {@code x·Wᵀ + b}: x {@code [.., d]}, W {@code [k, d]} and b {@code [k]}; returns {@code [.., k]}. */
    public static Var linear(Var x, Var weight, Var bias) {
        DType type = x.value().type();
        Var w = weight.to(type);
        Var b = bias.to(type);
        return x.tape().apply(List.of(x, w, b), () -> {
            // rows: of a view with permuted dimensions libtorch would make one product per index of the first
            Tensor y = rows(x.value()).linear(w.value(), b.value());
            return Result.of(y.reshape(x.shape().with(-1, y.size(1)).sizes()), (g, wanted) -> {
                Tensor up = rows(g);
                Tensor input = rows(x.value());
                List<@Nullable Tensor> ofParameters = x.tape()
                        .parameterGradients(
                                List.of(w, b),
                                List.of(up, input),
                                () -> list(
                                        wanted[1] ? up.transpose().matmul(input) : null,
                                        wanted[2] ? up.columnSums() : null));
                Tensor ofX = wanted[0] ? up.matmul(w.value()).reshape(x.shape().sizes()) : null;
                return list(ofX, ofParameters.get(0), ofParameters.get(1));
            });
        });
    }

    /** Computes GELU, keeping its argument for the gradient. */
    public static Var gelu(Var x, Gelu form) {
        return x.map(form::apply, (g, y) -> form.backward(g, x.value()));
    }

    /** Computes {@code exp(x) / Σ exp(x)} along the last dimension. */
    public static Var softmax(Var x) {
        return x.map(Tensor::softmax, Attention::softmaxBackward);
    }

    /** Normalizes the last dimension, see {@link LayerNorm}: x {@code [.., d]}, scale {@code [d]} and offset {@code [d]}. */
    public static Var layerNorm(Var x, Var gamma, Var beta, double epsilon) {
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Normalized normalized = new LayerNorm(epsilon).apply(rows(x.value()), gamma.value(), beta.value());
            return Result.of(
                    normalized.value().reshape(x.shape().sizes()),
                    (g, wanted) -> {
                        LayerNorm.Gradients gradients =
                                LayerNorm.backward(rows(g), rows(x.value()), gamma.value(), normalized, wanted);
                        Tensor rows = gradients.rows();
                        Tensor ofX =
                                rows == null ? null : rows.reshape(x.shape().sizes());
                        return list(ofX, gradients.gamma(), gradients.beta());
                    },
                    normalized.mean(),
                    normalized.inverse());
        });
    }

    /**
     * Normalizes the channels of feature maps at each position; the result is in channels-last format.
     *
     * @param maps {@code [n, c, h, w]}
     * @param gamma scale {@code [c]}
     * @param beta offset {@code [c]}
     */
    public static Var layerNormOfChannels(Var maps, Var gamma, Var beta, double epsilon) {
        return toMaps(layerNorm(fromMaps(maps), gamma, beta, epsilon));
    }

    /** Views feature maps {@code [n, c, h, w]} as {@code [n, h, w, c]}. */
    public static Var fromMaps(Var maps) {
        return maps.permute(0, 2, 3, 1);
    }

    /** Views {@code [n, h, w, c]} as feature maps {@code [n, c, h, w]}. */
    public static Var toMaps(Var channelsLast) {
        return channelsLast.permute(0, 3, 1, 2);
    }

    /**
     * Computes self-attention of several heads.
     *
     * @param joint queries, keys and values {@code [n, t, 3·h·e]}, each as h heads of e channels
     * @param heads h
     * @return {@code [n, t, h·e]}
     */
    public static Var selfAttention(Var joint, int heads) {
        if (joint.shape().rank() != 3 || joint.shape().at(2) % (3L * heads) != 0) {
            throw new IllegalArgumentException(
                    "attention: expected queries, keys and values [n, t, 3·" + heads + "·e], found " + joint.value());
        }
        long width = joint.shape().at(2) / 3;
        Attention attention = new Attention(Math.sqrt((double) heads / width));
        return joint.tape().apply(List.of(joint), () -> {
            Attention.Inputs inputs = Attention.Inputs.of(joint.value(), heads);
            if (!joint.wantsGradient()) {
                return Result.of(Attention.merged(attention.apply(inputs)), (g, wanted) -> list());
            }
            Attended attended = attention.forward(inputs);
            return Result.of(
                    Attention.merged(attended.value()),
                    (g, wanted) -> {
                        Tensor upstream = g.split(2, heads, width / heads).transpose(1, 2);
                        Tensor[] parts =
                                attention.backward(upstream, Attention.Inputs.of(joint.value(), heads), attended);
                        return list(Tensors.concat(
                                Stream.of(parts).map(Attention::merged).toList(), 2));
                    },
                    attended.value(),
                    attended.saved());
        });
    }

    /** Computes attention, see {@link Attention}: query {@code [n, h, t, e]}, key {@code [n, h, s, e]} and value {@code [n, h, s, e]}; returns {@code [n, h, t, e]}. */
    public static Var attention(Var query, Var key, Var value, double scale) {
        Attention attention = new Attention(scale);
        return query.tape().apply(List.of(query, key, value), () -> {
            Attention.Inputs inputs = new Attention.Inputs(query.value(), key.value(), value.value());
            if (!query.wantsGradient() && !key.wantsGradient() && !value.wantsGradient()) {
                return Result.of(attention.apply(inputs), (g, wanted) -> list());
            }
            Attended attended = attention.forward(inputs);
            return Result.of(
                    attended.value(), (g, wanted) -> list(attention.backward(g, inputs, attended)), attended.saved());
        });
    }

    private static Tensor rows(Tensor x) {
        long size = x.size(-1);
        return x.reshape(x.shape().elements() / size, size);
    }
}
