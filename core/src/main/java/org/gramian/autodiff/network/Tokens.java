package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Attention;
import org.gramian.tensor.Attention.Attended;
import org.gramian.tensor.DType;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.LayerNorm;
import org.gramian.tensor.LayerNorm.Normalized;
import org.gramian.tensor.Linear;
import org.gramian.tensor.Linear.Upstream;
import org.gramian.tensor.Tensor;
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
        return x.tape().apply(List.of(x, weight, bias), () -> {
            Projection y = Projection.of(x, weight, bias);
            return Result.of(y.shaped(y.rows), (g, wanted) -> y.gradients(Upstream.of(rows(g)), wanted), y.weight);
        });
    }

    /**
     * Computes {@code gelu(x·Wᵀ + b)} in one node.
     *
     * @param x {@code [.., d]}
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [.., k]}
     */
    public static Var linearGelu(Var x, Var weight, Var bias, Gelu form) {
        return x.tape().apply(List.of(x, weight, bias), () -> {
            Projection y = Projection.of(x, weight, bias);
            return Result.of(
                    y.shaped(form.apply(y.rows)),
                    (g, wanted) -> y.gradients(Upstream.ofGelu(rows(g), y.rows, form), wanted),
                    y.weight,
                    y.rows);
        });
    }

    /**
     * Linear layer inside a node.
     *
     * @param x input {@code [.., d]}
     * @param parameters W and b
     * @param weight W {@code [k, d]} in the type of x
     * @param exact type of the parameters
     * @param rows value {@code [m, k]}
     */
    private record Projection(Var x, List<Var> parameters, Tensor weight, DType exact, Tensor rows) {
        static Projection of(Var x, Var weight, Var bias) {
            DType type = x.value().type();
            Tensor w = weight.value().to(type);
            // rows: of a view with permuted dimensions libtorch would make one product per index of the first
            Tensor y = Tokens.rows(x.value()).linear(w, bias.value().to(type));
            return new Projection(x, List.of(weight, bias), w, weight.value().type(), y);
        }

        /** Gives rows {@code [m, c]} the leading dimensions of x. */
        Tensor shaped(Tensor rows) {
            return rows.reshape(x.shape().with(-1, rows.size(1)).sizes());
        }

        /** Computes the gradients of x, W and b, the latter beside that of x if both are wanted. */
        List<@Nullable Tensor> gradients(Upstream g, boolean[] wanted) {
            Tensor input = Tokens.rows(x.value());
            if (wanted[0] && wanted[1]) {
                List<Tensor> reads = new ArrayList<>(List.of(input));
                reads.addAll(g.tensors());
                boolean[] ofParameters = {false, true, wanted[2]};
                List<@Nullable Tensor> aside = x.tape().parameterGradients(parameters, reads, () -> {
                    Linear.Gradients found = Linear.backward(g, input, weight, exact, ofParameters);
                    return list(found.weight(), found.bias());
                });
                boolean[] ofRows = {true, false, false};
                Tensor rows = Linear.backward(g, input, weight, exact, ofRows).rows();
                return list(like(x, rows), aside.get(0), aside.get(1));
            }
            Linear.Gradients found = Linear.backward(g, input, weight, exact, wanted);
            return list(like(x, found.rows()), found.weight(), found.bias());
        }
    }

    /** Computes GELU, keeping its argument for the gradient. */
    public static Var gelu(Var x, Gelu form) {
        return x.map(form::apply, (g, y) -> form.backward(g, x.value()));
    }

    /** Computes {@code exp(x) / Σ exp(x)} along the last dimension. */
    public static Var softmax(Var x) {
        return x.map(Tensor::softmax, Attention::softmaxBackward);
    }

    /**
     * Normalizes the last dimension, see {@link LayerNorm}.
     *
     * @param x {@code [.., d]}
     * @param gamma scale {@code [d]}
     * @param beta offset {@code [d]}
     */
    public static Var layerNorm(Var x, Var gamma, Var beta, double epsilon) {
        LayerNorm norm = new LayerNorm(epsilon);
        return layerNorm(x, gamma, beta, () -> norm.apply(rows(x.value()), gamma.value(), beta.value()));
    }

    private static Var layerNorm(Var x, Var gamma, Var beta, Supplier<Normalized> function) {
        return x.tape().apply(List.of(x, gamma, beta), () -> {
            Normalized normalized = function.get();
            return Result.of(
                    normalized.value().reshape(x.shape().sizes()),
                    (g, wanted) -> {
                        LayerNorm.Gradients gradients =
                                LayerNorm.backward(rows(g), rows(x.value()), gamma.value(), normalized, wanted, null);
                        return list(like(x, gradients.rows()), gradients.gamma(), gradients.beta());
                    },
                    normalized.mean(),
                    normalized.inverse());
        });
    }

    /**
     * Sum of tokens and its layer norm.
     *
     * @param sum {@code [.., d]}
     * @param normalized {@code [.., d]}
     */
    public record NormalizedSum(Var sum, Var normalized) {}

    /**
     * Computes {@code x + branch} and its layer norm, in training on a GPU in one pass over memory.
     *
     * @param x {@code [.., d]}
     * @param branch {@code [.., d]}
     * @param gamma scale {@code [d]}
     * @param beta offset {@code [d]}
     */
    public static NormalizedSum addAndNorm(Var x, Var branch, Var gamma, Var beta, double epsilon) {
        if (!x.wantsGradient() && !branch.wantsGradient()) {
            Var sum = x.add(branch);
            return new NormalizedSum(sum, layerNorm(sum, gamma, beta, epsilon));
        }
        AtomicReference<Normalized> normalized = new AtomicReference<>();
        Var sum = x.tape().apply(List.of(x, branch), () -> {
            LayerNorm.Sum found =
                    new LayerNorm(epsilon).ofSum(rows(x.value()), rows(branch.value()), gamma.value(), beta.value());
            Normalized saved = found.normalized(); // saved by this node, whose gradient is computed after the norm's
            normalized.set(saved);
            Tensor value = found.rows().reshape(x.shape().sizes());
            return Result.of(value, (g, wanted) -> list(g, g), saved.value(), saved.mean(), saved.inverse());
        });
        return new NormalizedSum(sum, layerNorm(sum, gamma, beta, normalized::get));
    }

    private static @Nullable Tensor like(Var x, @Nullable Tensor rows) {
        return rows == null ? null : rows.reshape(x.shape().sizes());
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
     * Computes self-attention of several heads: queries, keys and values are {@code x·Wᵀ + b}.
     *
     * @param x tokens {@code [n, t, d]}
     * @param weight W {@code [3·h·e, d]} for queries, keys and values, each as h heads of e channels
     * @param bias b {@code [3·h·e]}
     * @param heads h
     * @return {@code [n, t, h·e]}
     */
    public static Var selfAttention(Var x, Var weight, Var bias, int heads) {
        long width = weight.shape().at(0) / 3;
        if (x.shape().rank() != 3 || weight.shape().at(0) % (3L * heads) != 0) {
            throw new IllegalArgumentException("attention: expected tokens [n, t, d] and weights [3·" + heads
                    + "·e, d], found " + x.value() + " and " + weight.value());
        }
        Attention attention = new Attention(Math.sqrt((double) heads / width));
        return x.tape().apply(List.of(x, weight, bias), () -> {
            Projection projection = Projection.of(x, weight, bias);
            Tensor joint = projection.shaped(projection.rows);
            if (!x.wantsGradient() && !weight.wantsGradient() && !bias.wantsGradient()) {
                return Result.of(merged(attention.apply(heads(joint, heads))), (g, wanted) -> list());
            }
            Attended attended = attention.forward(heads(joint, heads));
            return Result.of(
                    merged(attended.value()),
                    (g, wanted) -> {
                        Tensor upstream = g.split(2, heads, width / heads).transpose(1, 2);
                        Tensor[] parts = attention.backward(upstream, heads(joint, heads), attended);
                        List<Tensor> rows =
                                Stream.of(parts).map(part -> rows(merged(part))).toList();
                        return projection.gradients(Upstream.ofParts(rows.get(0), rows.get(1), rows.get(2)), wanted);
                    },
                    projection.weight,
                    joint,
                    attended.value(),
                    attended.saved());
        });
    }

    /** Views queries, keys and values {@code [n, t, 3·h·e]} as three tensors {@code [n, h, t, e]}. */
    private static Attention.Inputs heads(Tensor joint, int heads) {
        long width = joint.size(2) / 3;
        List<Tensor> parts = Stream.of(0, 1, 2)
                .map(i -> joint.slice(2, i * width, (i + 1) * width))
                .map(part -> part.split(2, heads, width / heads).transpose(1, 2))
                .toList();
        return new Attention.Inputs(parts.get(0), parts.get(1), parts.get(2));
    }

    /** Joins heads {@code [n, h, t, e]} to {@code [n, t, h·e]}. */
    private static Tensor merged(Tensor heads) {
        return heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), heads.size(1) * heads.size(3));
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
        return x.reshape(x.shape().elements() / size, size);
    }
}
