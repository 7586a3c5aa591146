package org.gramian.tensor;

import java.util.Optional;

/**
 * Batch normalization by the statistics of a batch on a GPU, by ATen's fused kernels: one pass over the maps for the
 * statistics and one for the result, and two for the gradient.
 *
 * <p>Maps may be in {@link DType#BF16} or {@link DType#F16}: sums, statistics and parameters are float32. The kernels sum in a
 * fixed order and wait for nothing, so that they can be captured in a CUDA graph. They are those of synchronized batch norm,
 * which take no lists and so can be called in every supported version of libtorch.
 */
public final class BatchNormKernels {
    private static final class Operators {
        static final Operator STATISTICS = Operator.of("batch_norm_stats");
        static final Operator NORMALIZE = Operator.of("batch_norm_elemt");
        static final Operator SUMS = Operator.of("batch_norm_backward_reduce");
        static final Operator GRADIENT = Operator.of("batch_norm_backward_elemt");
    }

    private BatchNormKernels() {}

    /**
     * Statistics of a batch.
     *
     * @param mean μ {@code [c]}, float32
     * @param inverse {@code 1/√(v + ε)} of the biased variance v {@code [c]}, float32
     */
    public record Statistics(Tensor mean, Tensor inverse) {}

    /** Gradients of maps {@code [n, c, h, w]}, scale {@code [c]} and offset {@code [c]}. */
    public record Gradients(Tensor maps, Tensor gamma, Tensor beta) {}

    /** Returns whether the kernels exist for these maps. */
    public static boolean suits(Tensor maps) {
        return maps.device().kind() == Device.Kind.CUDA
                && maps.shape().rank() == 4
                && (maps.type() == DType.F32 || maps.type() == DType.BF16 || maps.type() == DType.F16);
    }

    /** Computes mean and inverse standard deviation of each channel of {@code [n, c, h, w]}. */
    public static Statistics statistics(Tensor maps, double epsilon) {
        Tensor[] results = Operators.STATISTICS.results(2, maps, epsilon);
        return new Statistics(results[0], results[1]);
    }

    /** Computes {@code γ·(x − μ)·inverse + β} in the type and memory format of the maps. */
    public static Tensor normalize(Tensor maps, Tensor gamma, Tensor beta, Statistics statistics, double epsilon) {
        return Operators.NORMALIZE.call(
                maps, Optional.of(gamma), Optional.of(beta), statistics.mean, statistics.inverse, epsilon);
    }

    /**
     * Computes {@code dx = γ·inverse·(g − mean(g) − x̂·mean(g∘x̂))}, {@code dγ = Σ g∘x̂} and {@code dβ = Σ g}.
     *
     * @param upstream g {@code [n, c, h, w]}
     */
    public static Gradients backward(Tensor upstream, Tensor maps, Tensor gamma, Statistics statistics) {
        try (Scope scope = Scope.open()) {
            Tensor[] sums = Operators.SUMS.results(
                    4, upstream, maps, statistics.mean, statistics.inverse, Optional.of(gamma), true, true, true);
            double rows = maps.shape().elements() / (double) maps.size(1);
            Tensor count = Tensors.to(Tensors.full(rows, Shape.of(1), DType.F32, maps.device()), DType.I32);
            Tensor dx = Operators.GRADIENT.call(
                    upstream, maps, statistics.mean, statistics.inverse, Optional.of(gamma), sums[0], sums[1], count);
            return new Gradients(scope.keep(dx), scope.keep(sums[2]), scope.keep(sums[3]));
        }
    }
}
