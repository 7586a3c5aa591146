package org.gramian.tensor;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Scaled dot-product attention {@code softmax(q·kᵀ·scale)·v} (Vaswani et al., "Attention Is All You Need", NIPS 2017,
 * equation 1).
 *
 * <p>On the CPU libtorch's fused operator computes blocks of the matrix of weights and keeps none of it (Dao et al.,
 * "FlashAttention", NeurIPS 2022). Elsewhere the weights {@code [n, h, t, s]} are kept. Softmax sums in float32.
 *
 * @param scale factor, usually {@code 1/√e}
 */
public record Attention(double scale) {
    private static final class Operators {
        static final Operator ANY = Operator.of("scaled_dot_product_attention");
        static final Operator CPU = Operator.of("_scaled_dot_product_flash_attention_for_cpu");
        static final Operator CPU_BACKWARD = Operator.of("_scaled_dot_product_flash_attention_for_cpu_backward");
        static final Operator SOFTMAX_BACKWARD = Operator.of("_softmax_backward_data");
    }

    /**
     * Inputs of attention.
     *
     * @param query q {@code [n, h, t, e]}
     * @param key k {@code [n, h, s, e]}
     * @param value v {@code [n, h, s, e]}
     */
    public record Inputs(Tensor query, Tensor key, Tensor value) {
        public Inputs {
            Checks.rank("attention", query, 4);
            Checks.sameKind("attention", query, key);
            Checks.sameShape("attention", key, value);
            if (!query.shape().with(2, key.size(2)).equals(key.shape())) {
                throw Checks.mismatch("attention", query, key, "expected [n, h, t, e] and [n, h, s, e]");
            }
        }

        /** Views joint queries, keys and values {@code [n, t, 3·h·e]} as three tensors {@code [n, h, t, e]}. */
        public static Inputs of(Tensor joint, int heads) {
            long width = joint.size(2) / 3;
            List<Tensor> parts = Stream.of(0, 1, 2)
                    .map(i -> joint.slice(2, i * width, (i + 1) * width))
                    .map(part -> part.split(2, heads, width / heads).transpose(1, 2))
                    .toList();
            return new Inputs(parts.get(0), parts.get(1), parts.get(2));
        }
    }

    /** Joins heads {@code [n, h, t, e]} to {@code [n, t, h·e]}. */
    public static Tensor merged(Tensor heads) {
        return heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), heads.size(1) * heads.size(3));
    }

    /**
     * Attention with what its gradient needs.
     *
     * @param value {@code [n, h, t, e]}
     * @param saved logarithms of the sums of softmax {@code [n, h, t]} of a fused operator, else the weights
     */
    public record Attended(Tensor value, Tensor saved) {}

    /** Computes attention without saving anything for a gradient. */
    public Tensor apply(Inputs x) {
        return Operators.ANY.call(x.query, x.key, x.value, null, 0.0, false, Optional.of(scale), false);
    }

    /** Computes attention for {@link #backward}. */
    public Attended forward(Inputs x) {
        if (x.query.device().kind() == Device.Kind.CPU) {
            Tensor[] results = Operators.CPU.results(2, x.query, x.key, x.value, 0.0, false, null, Optional.of(scale));
            return new Attended(results[0], results[1]);
        }
        Tensor scores = x.query.mul(scale).matmul(x.key.transpose());
        Tensor weights = scores.softmax();
        return new Attended(weights.matmul(x.value), weights);
    }

    /**
     * Computes the gradients of query, key and value: with weights P, {@code dv = Pᵀ·g}, {@code dS = P∘(g·vᵀ − rowsum(P∘(g·vᵀ)))},
     * {@code dq = scale·dS·k}, {@code dk = scale·dSᵀ·q}.
     *
     * @param g gradient of the value {@code [n, h, t, e]}
     */
    public Tensor[] backward(Tensor g, Inputs x, Attended of) {
        if (g.device().kind() == Device.Kind.CPU) {
            return Operators.CPU_BACKWARD.results(
                    3, g, x.query, x.key, x.value, of.value, of.saved, 0.0, false, null, Optional.of(scale));
        }
        Tensor weights = of.saved;
        Tensor ofWeights = g.matmul(x.value.transpose());
        Tensor ofScores = softmaxBackward(ofWeights, weights).mulInPlace(scale);
        return new Tensor[] {
            ofScores.matmul(x.key),
            ofScores.transpose().matmul(x.query),
            weights.transpose().matmul(g)
        };
    }

    /**
     * Computes the gradient of softmax along the last dimension, {@code y∘(g − Σ g∘y)}.
     *
     * @param y value of softmax
     */
    public static Tensor softmaxBackward(Tensor g, Tensor y) {
        return Operators.SOFTMAX_BACKWARD.call(g, y, -1L, (long) y.type().code());
    }
}
