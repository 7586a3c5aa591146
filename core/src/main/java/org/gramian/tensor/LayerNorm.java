package org.gramian.tensor;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * Layer normalization of rows, {@code y = γ·(x − μ)/√(v + ε) + β} with mean μ and variance v of each row (Ba, Kiros and
 * Hinton, "Layer Normalization", arXiv:1607.06450).
 *
 * <p>Rows may have another type than γ and β, such as {@link DType#BF16} beside float32: the function is computed in the
 * type of γ and β and rounded to that of the rows.
 *
 * <p>On a GPU a kernel makes one pass over the rows, and one for the gradients. Elsewhere libtorch's group norm computes
 * the function: it is the same for one group of {@code 1×1} maps, and it takes no list of sizes, which the dispatcher
 * accepts only from 2.10 on.
 *
 * @param epsilon ε
 */
public record LayerNorm(double epsilon) {
    private static final class Operators {
        static final Operator GROUP_NORM = Operator.of("native_group_norm");
    }

    /**
     * Normalized rows.
     *
     * @param value y {@code [m, d]}
     * @param mean μ {@code [m, 1]}, of the type of γ
     * @param inverse {@code 1/√(v + ε)} {@code [m, 1]}, of the type of γ
     */
    public record Normalized(Tensor value, Tensor mean, Tensor inverse) {}

    /**
     * Sum of rows with its normalized rows.
     *
     * @param rows {@code [m, d]}
     * @param normalized layer norm of the sum
     */
    public record Sum(Tensor rows, Normalized normalized) {}

    /** Gradients of {@link #apply}; null where not requested. */
    public record Gradients(
            @Nullable Tensor rows,
            @Nullable Tensor gamma,
            @Nullable Tensor beta) {}

    /**
     * Normalizes each row.
     *
     * @param rows x {@code [m, d]}
     * @param gamma γ {@code [d]}
     * @param beta β {@code [d]}
     */
    public Normalized apply(Tensor rows, Tensor gamma, Tensor beta) {
        check(rows, gamma, beta);
        Tensor x = rows.contiguous();
        if (Kernels.suit(x, gamma) && Kernels.suit(x, beta)) {
            return Kernels.apply(x, null, gamma, beta, epsilon).normalized;
        }
        Tensor[] results = Operators.GROUP_NORM.results(
                3,
                x.to(gamma.type()),
                Optional.of(gamma),
                Optional.of(beta),
                rows.size(0),
                rows.size(1),
                1L,
                1L,
                epsilon);
        return new Normalized(results[0].to(rows.type()), results[1], results[2]);
    }

    /**
     * Adds rows and normalizes each row of the sum, on a GPU in one pass over memory.
     *
     * @param rows {@code [m, d]}
     * @param branch {@code [m, d]}
     * @param gamma γ {@code [d]}
     * @param beta β {@code [d]}
     */
    public Sum ofSum(Tensor rows, Tensor branch, Tensor gamma, Tensor beta) {
        check(rows, gamma, beta);
        Checks.sameKind("layer norm", rows, branch);
        Checks.sameShape("layer norm", rows, branch);
        Tensor x = rows.contiguous();
        Tensor other = branch.contiguous();
        if (Kernels.suit(x, gamma) && Kernels.suit(other, beta)) {
            return Kernels.apply(x, other, gamma, beta, epsilon);
        }
        Tensor sum = x.add(other);
        return new Sum(sum, apply(sum, gamma, beta));
    }

    private static void check(Tensor rows, Tensor gamma, Tensor beta) {
        Checks.rank("layer norm", rows, 2);
        Checks.floating("layer norm", rows);
        Checks.sameKind("layer norm", gamma, beta);
        Shape each = Shape.of(rows.size(1));
        if (!gamma.shape().equals(each) || !beta.shape().equals(each)) {
            throw Checks.mismatch("layer norm", gamma, beta, "expected one scale and one offset per column of " + rows);
        }
    }

    /**
     * Computes the gradients: with {@code n = (x − μ)/√(v + ε)}, {@code dγ = Σ g·n}, {@code dβ = Σ g} over the rows, and
     * {@code dx = (g·γ − mean(g·γ) − n·mean(g·γ·n))/√(v + ε)} with means over each row.
     *
     * @param g gradient of y {@code [m, d]}, of the type of the rows
     * @param present another gradient of the rows {@code [m, d]}, which is added to dx, or null
     */
    public static Gradients backward(
            Tensor g, Tensor rows, Tensor gamma, Normalized of, boolean[] wanted, @Nullable Tensor present) {
        Checks.sameKind("layer norm", g, rows);
        if (present != null) {
            Checks.sameKind("layer norm", present, rows);
        }
        Tensor x = rows.contiguous();
        if (Kernels.suit(x, gamma)) {
            return Kernels.backward(
                    Kernels.aligned(g), x, gamma, of, wanted, present == null ? null : Kernels.aligned(present));
        }
        DType exact = gamma.type();
        long size = rows.size(1);
        Tensor up = g.to(exact);
        Tensor normal = rows.to(exact).sub(of.mean).mulInPlace(of.inverse);
        Tensor products = up.mul(normal);
        Tensor dGamma = wanted[1] ? products.columnSums() : null;
        Tensor dBeta = wanted[2] ? up.columnSums() : null;
        if (!wanted[0]) {
            return new Gradients(null, dGamma, dBeta);
        }
        Tensor column = gamma.mul(1.0 / size).reshape(size, 1);
        Tensor mean = up.matmul(column);
        Tensor correlation = products.matmul(column);
        Tensor centred = up.mul(gamma).sub(mean);
        Tensor dx = centred.sub(normal.mulInPlace(correlation));
        Tensor ofRows = dx.mulInPlace(of.inverse).to(rows.type());
        return new Gradients(present == null ? ofRows : ofRows.add(present), dGamma, dBeta);
    }

    /** CUDA kernels for rows in {@link DType#BF16} or float32 with float32 parameters; sums have a fixed order. */
    static final class Kernels {
        private static final int VECTOR = 4;
        private static final int WARP = 32;
        private static final int WARPS = 8;

        /** Vectors of a lane: more would not fit into registers in the gradient. */
        private static final int MOST = 8;

        /** Blocks of the gradient, two per multiprocessor of an H100: each leaves a row of partial sums. */
        private static final int BLOCKS = 264;

        /** Values that a program is compiled for. */
        record Variant(boolean half, int vectors) {
            static Variant of(Tensor rows) {
                return new Variant(rows.type() == DType.BF16, (int) Math.ceilDiv(rows.size(1), (long) VECTOR * WARP));
            }

            CudaProgram program() {
                return CudaProgram.of("layernorm.cu", Map.of("BF16", half ? 1 : 0, "VECTORS", vectors));
            }
        }

        private static final Map<Variant, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

        private Kernels() {}

        /** @param parameter γ or β */
        static boolean suit(Tensor rows, Tensor parameter) {
            return rows.device().kind() == Device.Kind.CUDA
                    && (rows.type() == DType.BF16 || rows.type() == DType.F32)
                    && rows.shape().elements() > 0
                    && rows.size(0) < Integer.MAX_VALUE / 2
                    && rows.size(1) % VECTOR == 0
                    && rows.size(1) <= (long) MOST * VECTOR * WARP
                    && CudaProgram.suits(parameter)
                    && CudaProgram.isAligned(rows)
                    && CudaProgram.isAligned(parameter);
        }

        /** Returns rows without gaps whose vectors begin at multiples of their size. */
        static Tensor aligned(Tensor rows) {
            Tensor dense = rows.contiguous();
            return CudaProgram.isAligned(dense) ? dense : dense.copy();
        }

        private static CudaProgram program(Tensor rows) {
            return PROGRAMS.computeIfAbsent(Variant.of(rows), Variant::program);
        }

        /** @param branch added to x, or null */
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

        static Gradients backward(
                Tensor g, Tensor x, Tensor gamma, Normalized of, boolean[] wanted, @Nullable Tensor present) {
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
                            of.mean,
                            of.inverse,
                            present,
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
}
