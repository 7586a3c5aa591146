package org.gramian.accelerate;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.LayerNorm.Gradients;
import org.gramian.tensor.LayerNorm.Normalized;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * CUDA kernels for layer norm of rows in {@link DType#BF16} with float32 parameters: one pass over the rows, and one for the
 * gradients. Sums have a fixed order.
 */
final class LayerNormKernels {
    private static final int VECTOR = 4;
    private static final int WARP = 32;
    private static final int WARPS = 8;

    /** Vectors of a lane: more would not fit into registers in the gradient. */
    private static final int MOST = 8;

    /** Blocks of the gradient, two per multiprocessor of an H100: each leaves a row of partial sums. */
    private static final int BLOCKS = 264;

    /** Programs by the number of vectors of a lane. */
    private static final Map<Integer, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

    private LayerNormKernels() {}

    /**
     * Sum of rows with its normalized rows.
     *
     * @param rows {@code [m, d]}
     * @param normalized layer norm of the sum
     */
    record Sum(Tensor rows, Normalized normalized) {}

    /** @param parameter γ or β */
    static boolean isSupported(Tensor rows, Tensor parameter) {
        return rows.device().kind() == Device.Kind.CUDA
                && rows.type() == DType.BF16
                && rows.shape().elements() > 0
                && rows.shape().elements() / rows.size(-1) < Integer.MAX_VALUE / 2
                && rows.size(-1) % VECTOR == 0
                && rows.size(-1) <= (long) MOST * VECTOR * WARP
                && parameter.shape().equals(Shape.of(rows.size(-1)))
                && CudaProgram.isSupported(parameter)
                && CudaProgram.isAligned(parameter);
    }

    /** Returns rows without gaps whose vectors begin at multiples of their size. */
    static Tensor aligned(Tensor rows) {
        Tensor dense = rows.contiguous();
        return CudaProgram.isAligned(dense) ? dense : dense.copy();
    }

    static CudaProgram program(int vectors) {
        return PROGRAMS.computeIfAbsent(
                vectors, _ -> CudaProgram.of(LayerNormKernels.class, "layernorm.cu", Map.of("VECTORS", vectors)));
    }

    private static CudaProgram program(Tensor rows) {
        return program((int) Math.ceilDiv(rows.size(1), (long) VECTOR * WARP));
    }

    /**
     * Normalizes rows, or the sum of two.
     *
     * @param x {@code [m, d]}, {@linkplain #aligned aligned}
     * @param branch {@code [m, d]}, aligned, added to x, or null
     */
    static Sum apply(Tensor x, @Nullable Tensor branch, Tensor gamma, Tensor beta, double epsilon) {
        int rows = Math.toIntExact(x.size(0));
        Tensor sum = branch == null ? null : Tensors.emptyLike(x);
        Tensor y = Tensors.emptyLike(x);
        Tensor mean = Tensors.empty(Shape.of(rows, 1), gamma);
        Tensor inverse = Tensors.empty(Shape.of(rows, 1), gamma);
        program(x)
                .launch(
                        "layer_norm",
                        new LaunchConfig(Math.ceilDiv(rows, WARPS), 1, 1, WARP, WARPS),
                        x,
                        branch,
                        sum,
                        gamma,
                        beta,
                        y,
                        mean,
                        inverse,
                        rows,
                        (int) x.size(1) / VECTOR,
                        (float) epsilon);
        return new Sum(sum == null ? x : sum, new Normalized(y, mean, inverse));
    }

    /** Computes the gradients of {@link #apply}, see {@link org.gramian.tensor.LayerNorm#backward}. */
    static Gradients backward(Tensor g, Tensor x, Tensor gamma, Normalized of, boolean[] wanted) {
        int rows = Math.toIntExact(x.size(0));
        long size = x.size(1);
        int blocks = Math.min(BLOCKS, Math.ceilDiv(rows, WARPS));
        boolean sums = wanted[1] || wanted[2];
        Tensor dx = wanted[0] ? Tensors.emptyLike(x) : null;
        Tensor partial = sums ? Tensors.empty(Shape.of(blocks, 2 * size), gamma) : null;
        program(x)
                .launch(
                        "layer_norm_backward",
                        new LaunchConfig(blocks, 1, 1, WARP, WARPS),
                        g,
                        x,
                        gamma,
                        of.mean(),
                        of.inverse(),
                        dx,
                        partial,
                        rows,
                        (int) size / VECTOR);
        if (partial == null) {
            return new Gradients(dx, null, null);
        }
        Tensor both = FeatureMapKernels.sumOverRows(partial);
        return new Gradients(
                dx, wanted[1] ? both.slice(0, 0, size) : null, wanted[2] ? both.slice(0, size, 2 * size) : null);
    }
}
