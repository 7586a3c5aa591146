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
import java.util.Objects;
import org.gramian.tensor.Attention.Attended;
import org.gramian.tensor.Attention.Inputs;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * Fused attention of libtorch on a GPU, which computes blocks of the matrix of weights and keeps none of it (Dao et al.,
 * "FlashAttention", NeurIPS 2022; Dao, "FlashAttention-2", ICLR 2024). It takes 16-bit heads of at most 128 channels, a multiple of
 * 8. Its gradient of the queries sums blocks in any order.
 *
 * <p>C functions are called, since the dispatcher of libtorch 2.7 cannot return its integer results.
 */
public final class FlashAttention {
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
            Objects.requireNonNull(results[0]), Objects.requireNonNull(results[1]), Objects.requireNonNull(results[2])
        };
    }
}
