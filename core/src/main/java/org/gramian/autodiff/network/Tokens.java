package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.stream.Stream;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Attention;
import org.gramian.tensor.Attention.Attended;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.LayerNorm;
import org.gramian.tensor.LayerNorm.Normalized;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.jspecify.annotations.Nullable;

/**
 * Differentiable functions of tokens {@code [n, t, d]}: linear layer, layer norm, GELU and attention.
 *
 * <p>Tokens in {@link DType#BF16} are processed in mixed precision, as feature maps are: float32 parameters are rounded
 * for a product and get float32 gradients; layer norm and softmax compute in float32.
 */
public final class Tokens {
    private Tokens() {}

    /**
     * Computes {@code x·Wᵀ + b}.
     *
     * @param x {@code [.., d]}
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [.., k]}
     */
    public static Var linear(Var x, Var weight, Var bias) {
        DType exact = weight.value().type();
        return x.tape().apply(List.of(x, weight, bias), () -> {
            DType type = x.value().type();
            Tensor w = Tensors.to(weight.value(), type);
            // rows: of a view with permuted dimensions libtorch would make one product per index of the first
            Tensor y = Products.linear(rows(x.value()), w, Tensors.to(bias.value(), type));
            return Result.of(
                    Views.reshape(y, x.shape().with(-1, y.size(1)).sizes()),
                    (g, wanted) -> {
                        Tensor rows = rows(g);
                        Tensor of = wanted[1] ? rows(x.value()) : rows;
                        return list(
                                wanted[0]
                                        ? Views.reshape(
                                                Products.matmul(rows, w),
                                                x.shape().sizes())
                                        : null,
                                wanted[1] ? Tensors.to(Products.matmul(Views.transpose(rows), of), exact) : null,
                                wanted[2] ? Tensors.to(columnSums(rows), exact) : null);
                    },
                    w);
        });
    }

    /** Computes GELU, keeping its argument for the gradient. */
    public static Var gelu(Var x, Gelu form) {
        return Arithmetic.unary(x, form::apply, (g, y) -> form.backward(g, x.value()));
    }

    /** Computes {@code exp(x) / Σ exp(x)} along the last dimension. */
    public static Var softmax(Var x) {
        return Arithmetic.unary(x, Elementwise::softmax, Attention::softmaxBackward);
    }

    /**
     * Normalizes the last dimension, see {@link LayerNorm}.
     *
     * @param x {@code [.., d]}
     * @param gamma scale {@code [d]}
     * @param beta offset {@code [d]}
     */
    public static Var layerNorm(Var x, Var gamma, Var beta, double epsilon) {
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Normalized normalized = new LayerNorm(epsilon).apply(rows(x.value()), gamma.value(), beta.value());
            return Result.of(
                    Views.reshape(normalized.value(), x.shape().sizes()),
                    (g, wanted) -> {
                        LayerNorm.Gradients gradients =
                                LayerNorm.backward(rows(g), rows(x.value()), gamma.value(), normalized, wanted);
                        return list(like(x, gradients.rows()), gradients.gamma(), gradients.beta());
                    },
                    normalized.mean(),
                    normalized.inverse());
        });
    }

    private static @Nullable Tensor like(Var x, @Nullable Tensor rows) {
        return rows == null ? null : Views.reshape(rows, x.shape().sizes());
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
        return Shapes.permute(maps, 0, 2, 3, 1);
    }

    /** Views {@code [n, h, w, c]} as feature maps {@code [n, c, h, w]}. */
    public static Var toMaps(Var channelsLast) {
        return Shapes.permute(channelsLast, 0, 3, 1, 2);
    }

    /**
     * Computes self-attention of several heads.
     *
     * @param joint queries, keys and values {@code [n, t, 3·h·e]}, each as h heads of e channels
     * @param heads h
     * @return {@code [n, t, h·e]}
     */
    public static Var selfAttention(Var joint, int heads) {
        Shape shape = joint.shape();
        if (shape.rank() != 3 || shape.at(2) % (3L * heads) != 0) {
            throw new IllegalArgumentException("attention: expected [n, t, 3·" + heads + "·e], found " + joint.value());
        }
        Attention attention = new Attention(Math.sqrt(3.0 * heads / shape.at(2)));
        return joint.tape().apply(List.of(joint), () -> {
            if (!joint.wantsGradient()) {
                return Result.of(merged(attention.apply(heads(joint.value(), heads))), (g, wanted) -> list());
            }
            Attended attended = attention.forward(heads(joint.value(), heads));
            return Result.of(
                    merged(attended.value()),
                    (g, wanted) -> {
                        Tensor upstream = Views.transpose(Views.split(g, 2, heads, shape.at(2) / (3L * heads)), 1, 2);
                        Tensor[] parts = attention.backward(upstream, heads(joint.value(), heads), attended);
                        return list(Views.concat(
                                Stream.of(parts).map(Tokens::merged).toList(), 2));
                    },
                    attended.value(),
                    attended.saved());
        });
    }

    /** Views queries, keys and values {@code [n, t, 3·h·e]} as three tensors {@code [n, h, t, e]}. */
    private static Attention.Inputs heads(Tensor joint, int heads) {
        long width = joint.size(2) / 3;
        List<Tensor> parts = Stream.of(0, 1, 2)
                .map(i -> Views.slice(joint, 2, i * width, (i + 1) * width))
                .map(part -> Views.transpose(Views.split(part, 2, heads, width / heads), 1, 2))
                .toList();
        return new Attention.Inputs(parts.get(0), parts.get(1), parts.get(2));
    }

    /** Joins heads {@code [n, h, t, e]} to {@code [n, t, h·e]}. */
    private static Tensor merged(Tensor heads) {
        return Views.reshape(Views.transpose(heads, 1, 2), heads.size(0), heads.size(2), heads.size(1) * heads.size(3));
    }

    /**
     * Computes attention, see {@link Attention}.
     *
     * @param query {@code [n, h, t, e]}
     * @param key {@code [n, h, s, e]}
     * @param value {@code [n, h, s, e]}
     * @return {@code [n, h, t, e]}
     */
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
        return Views.reshape(x, x.shape().elements() / size, size);
    }

    private static Tensor columnSums(Tensor rows) {
        return Views.reshape(Reductions.sum(rows, 0), rows.size(1));
    }
}
