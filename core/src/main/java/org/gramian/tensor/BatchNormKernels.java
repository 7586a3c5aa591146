package org.gramian.tensor;

import java.util.Arrays;
import java.util.Optional;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * Batch normalization by the statistics of a batch on a GPU: one pass over the maps for the statistics and one for the
 * result, and two for the gradient.
 *
 * <p>Bfloat16 maps in channels-last format have {@linkplain #canFuse kernels} that also add a residual, apply an activation and
 * move the running statistics. Other maps, in {@link DType#F32}, {@link DType#BF16} or {@link DType#F16}, are normalized by
 * ATen's kernels of synchronized batch norm, which take no lists and so can be called in every supported version of libtorch.
 * Sums, statistics and parameters are float32. All kernels sum in a fixed order and wait for nothing, so that they can be
 * captured in a CUDA graph.
 */
public final class BatchNormKernels {
    private static final class Operators {
        static final Operator STATISTICS = Operator.of("batch_norm_stats");
        static final Operator NORMALIZE = Operator.of("batch_norm_elemt");
        static final Operator SUMS = Operator.of("batch_norm_backward_reduce");
        static final Operator GRADIENT = Operator.of("batch_norm_backward_elemt");
    }

    private static final class Program {
        static final CudaProgram NORM = CudaProgram.of("norm.cu");
    }

    private static final long ROWS_PER_THREAD = 4;

    private BatchNormKernels() {}

    /**
     * Statistics of a batch.
     *
     * @param mean μ {@code [c]}, float32
     * @param inverse {@code 1/√(v + ε)} of the biased variance v {@code [c]}, float32
     */
    public record Statistics(Tensor mean, Tensor inverse) {}

    /**
     * Gradients of maps {@code [n, c, h, w]}, scale {@code [c]} and offset {@code [c]}.
     *
     * @param result gradient before the activation {@code [n, c, h, w]}, which is that of a residual too
     */
    public record Gradients(Tensor maps, Tensor gamma, Tensor beta, Tensor result) {}

    /** Returns whether the kernels exist for these maps. */
    public static boolean suits(Tensor maps) {
        return maps.device().kind() == Device.Kind.CUDA
                && maps.shape().rank() == 4
                && (maps.type() == DType.F32 || maps.type() == DType.BF16 || maps.type() == DType.F16);
    }

    /** Returns whether the fused kernels exist for these maps, this activation and float32 vectors {@code [c]}. */
    public static boolean canFuse(Tensor maps, Activation activation, Tensor... vectors) {
        return activation.clamps()
                && FeatureMapKernels.suitSums(maps)
                && Arrays.stream(vectors).allMatch(CudaProgram::suits);
    }

    /**
     * Computes mean and inverse standard deviation of each channel of {@code [n, c, h, w]} and moves running statistics: {@code
     * r ← (1 − momentum)·r + momentum·b}, where b is the mean or the unbiased variance of the batch.
     *
     * @param runningMean {@code [c]}
     * @param runningVariance {@code [c]}
     */
    public static Statistics statistics(
            Tensor maps, Tensor runningMean, Tensor runningVariance, double momentum, double epsilon) {
        Rows rows = Rows.of(maps);
        Tensor partial = rows.partial(maps);
        Program.NORM.launch("shifted_sums", rows.sums(), maps, partial, rows.count, rows.vectors);
        Tensor mean = Tensors.empty(runningMean.shape(), runningMean);
        Tensor inverse = Tensors.empty(runningMean.shape(), runningMean);
        Program.NORM.launch(
                "moments",
                rows.columns(),
                maps,
                partial,
                mean,
                inverse,
                runningMean,
                runningVariance,
                rows.sums().x(),
                rows.channels(),
                (float) rows.count,
                (float) momentum,
                (float) epsilon);
        return new Statistics(mean, inverse);
    }

    /**
     * Computes {@code activation(γ·(x − μ)·inverse + β + residual)} in bfloat16 and channels-last format.
     *
     * @param residual maps of the same shape, or null
     * @param activation none, ReLU or ReLU6
     */
    public static Tensor normalize(
            Tensor maps,
            Tensor gamma,
            Tensor beta,
            Statistics statistics,
            @Nullable Tensor residual,
            Activation activation) {
        Rows rows = Rows.of(maps);
        Tensor y = Tensors.emptyLike(maps);
        Program.NORM.launch(
                "normalize",
                rows.each(),
                maps,
                residual == null ? null : residual.channelsLast(),
                y,
                gamma,
                beta,
                statistics.mean,
                statistics.inverse,
                rows.count,
                rows.vectors,
                activation.low,
                activation.high);
        return y;
    }

    /**
     * Computes the gradients of {@link #normalize(Tensor, Tensor, Tensor, Statistics, Tensor, Activation)}: with {@code g' = g∘[0 <
     * y < bound]} and the mean over n elements, {@code dx = γ·inverse·(g' − mean(g') − x̂·mean(g'∘x̂))}, {@code dγ = Σ g'∘x̂},
     * {@code dβ = Σ g'}.
     *
     * @param upstream g {@code [n, c, h, w]}
     * @param y result
     */
    public static Gradients backward(
            Tensor upstream, Tensor y, Tensor maps, Tensor gamma, Statistics statistics, Activation activation) {
        Rows rows = Rows.of(maps);
        Tensor g = upstream.channelsLast();
        boolean masks = activation != Activation.NONE;
        Tensor masked = masks ? Tensors.emptyLike(maps) : g;
        Tensor partial = rows.partial(maps);
        Program.NORM.launch(
                "gradient_sums",
                rows.sums(),
                g,
                masks ? y : null,
                maps,
                masks ? masked : null,
                statistics.mean,
                partial,
                rows.count,
                rows.vectors,
                activation.highBits());
        Tensor ofGamma = Tensors.empty(gamma.shape(), gamma);
        Tensor ofBeta = Tensors.empty(gamma.shape(), gamma);
        Program.NORM.launch(
                "parameter_gradients",
                rows.columns(),
                partial,
                statistics.inverse,
                ofGamma,
                ofBeta,
                rows.sums().x(),
                rows.channels());
        Tensor dx = Tensors.emptyLike(maps);
        Program.NORM.launch(
                "maps_gradient",
                rows.each(),
                masked,
                maps,
                dx,
                gamma,
                statistics.mean,
                statistics.inverse,
                ofGamma,
                ofBeta,
                rows.count,
                rows.vectors,
                (float) (1.0 / rows.count));
        return new Gradients(dx, ofGamma, ofBeta, masked);
    }

    /**
     * Maps as rows of channels.
     *
     * @param count number of rows, one per position of an image
     * @param vectors vectors of channels in a row
     */
    private record Rows(long count, int vectors) {
        static Rows of(Tensor maps) {
            return new Rows(
                    maps.shape().elements() / maps.size(1), Math.toIntExact(maps.size(1) / FeatureMapKernels.VECTOR));
        }

        int channels() {
            return vectors * FeatureMapKernels.VECTOR;
        }

        /** Returns blocks that sum over the rows. */
        LaunchConfig sums() {
            return blocks(FeatureMapKernels.blocks(count, vectors));
        }

        /** Returns blocks that compute a value for each element, with some rows per thread, which loads its parameters once. */
        LaunchConfig each() {
            long rows = FeatureMapKernels.THREADS / vectors * ROWS_PER_THREAD;
            return blocks(Math.toIntExact(Math.ceilDiv(count, rows)));
        }

        private static LaunchConfig blocks(int blocks) {
            return new LaunchConfig(blocks, 1, 1, FeatureMapKernels.THREADS, 1);
        }

        /** Returns blocks of 32 × 32 threads, one for 32 channels. */
        LaunchConfig columns() {
            return new LaunchConfig(Math.ceilDiv(channels(), 32), 1, 1, 32, 32);
        }

        /** Returns memory for two sums per channel and block. */
        Tensor partial(Tensor maps) {
            return Tensors.empty(Shape.of(2, sums().x(), channels()), DType.F32, maps.device());
        }
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
            Tensor count =
                    Tensors.full(rows, Shape.of(1), DType.F32, maps.device()).to(DType.I32);
            Tensor dx = Operators.GRADIENT.call(
                    upstream, maps, statistics.mean, statistics.inverse, Optional.of(gamma), sums[0], sums[1], count);
            return new Gradients(scope.keep(dx), scope.keep(sums[2]), scope.keep(sums[3]), upstream);
        }
    }
}
