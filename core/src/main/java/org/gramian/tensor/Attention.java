package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.gramian.tensor.DeviceFunctions.concat;
import static org.gramian.tensor.DeviceFunctions.tensors;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * Scaled dot-product attention {@code softmax(q·kᵀ·scale)·v} (Vaswani et al., "Attention Is All You Need", NIPS 2017,
 * equation 1).
 *
 * <p>On the CPU libtorch's fused operator computes blocks of the matrix of weights and keeps none of it (Dao et al.,
 * "FlashAttention", NeurIPS 2022). Elsewhere the weights {@code [n, h, t, s]} are kept. Softmax sums in float32.
 *
 * @param scale factor, usually {@code 1/√e}
 * @since 0.1
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

    /**
     * Fused attention of libtorch on a GPU, which computes blocks of the matrix of weights and keeps none of it (Dao et al.,
     * "FlashAttention", NeurIPS 2022; Dao, "FlashAttention-2", ICLR 2024). It takes 16-bit heads of at most 128 channels, a multiple of
     * 8. Its gradient of the queries sums blocks in any order.
     *
     * <p>C functions are called, since the dispatcher of libtorch 2.7 cannot return its integer results.
     */
    public static final class FlashAttention {
        /** Takes q, k, v, dropout, whether causal, whether to debug, the scale and nine results, null where not wanted. */
        private static final MethodHandle FORWARD = DeviceFunctions.function(
                "aoti_torch_cuda__scaled_dot_product_flash_attention",
                concat(concat(tensors(3), JAVA_DOUBLE, JAVA_INT, JAVA_INT), tensors(1 + 9)));

        /**
         * Takes g, q, k, v, the value, the logarithms, starts of sequences of q and k, their lengths, dropout, whether
         * causal, two tensors of a random state, the scale and three results.
         */
        private static final MethodHandle BACKWARD = DeviceFunctions.function(
                "aoti_torch_cuda__scaled_dot_product_flash_attention_backward",
                concat(concat(tensors(8), JAVA_LONG, JAVA_LONG, JAVA_DOUBLE, JAVA_INT), tensors(2 + 1 + 3)));

        /** Handle on an undefined tensor: sequences of one length have no starts, and without dropout nothing is random. */
        private static final MemorySegment UNDEFINED = undefined();

        private static final MemorySegment NONE = MemorySegment.NULL;

        private FlashAttention() {}

        private static MemorySegment undefined() {
            MethodHandle create = DeviceFunctions.function("aoti_torch_new_uninitialized_tensor", ADDRESS);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment word = arena.allocate(ADDRESS);
                NativeErrors.call("undefined tensor", () -> (int) create.invokeExact(word));
                return word.get(ADDRESS, 0);
            }
        }

        /** Computes {@link Attention} for {@link #backward}. */
        public static Attended forward(Inputs x, double scale) {
            @Nullable
            Tensor[] results = DeviceFunctions.results(
                    "attention",
                    2,
                    (arena, out) -> {
                        MemorySegment q = x.query().handle();
                        MemorySegment k = x.key().handle();
                        MemorySegment v = x.value().handle();
                        MemorySegment factor = arena.allocateFrom(JAVA_DOUBLE, scale);
                        MemorySegment sums = out.asSlice(8);
                        return (int) FORWARD.invokeExact(
                                q, k, v, 0.0, 0, 0, factor, out, sums, NONE, NONE, NONE, NONE, NONE, NONE, NONE);
                    },
                    x.query(),
                    x.key(),
                    x.value());
            return new Attended(Objects.requireNonNull(results[0]), Objects.requireNonNull(results[1]));
        }

        /** Computes the gradients of query, key and value. */
        public static Tensor[] backward(Tensor g, Inputs x, Attended of, double scale) {
            @Nullable
            Tensor[] results = DeviceFunctions.results(
                    "backward of attention",
                    3,
                    (arena, out) -> {
                        MemorySegment up = g.handle();
                        MemorySegment q = x.query().handle();
                        MemorySegment k = x.key().handle();
                        MemorySegment v = x.value().handle();
                        MemorySegment y = of.value().handle();
                        MemorySegment sums = of.saved().handle();
                        long t = x.query().size(2);
                        long s = x.key().size(2);
                        MemorySegment factor = arena.allocateFrom(JAVA_DOUBLE, scale);
                        MemorySegment dk = out.asSlice(8);
                        MemorySegment dv = out.asSlice(16);
                        MemorySegment none = UNDEFINED;
                        return (int) BACKWARD.invokeExact(
                                up, q, k, v, y, sums, none, none, t, s, 0.0, 0, none, none, factor, out, dk, dv);
                    },
                    g,
                    x.query(),
                    x.key());
            return new Tensor[] {
                Objects.requireNonNull(results[0]),
                Objects.requireNonNull(results[1]),
                Objects.requireNonNull(results[2])
            };
        }
    }
}
