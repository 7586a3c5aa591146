package org.gramian.accelerate;

import java.util.Map;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * CUDA kernels that bring float32 filters {@code [k, c, s, t]} to bfloat16 in channels-last format, and the gradients
 * back, with a batch norm of fixed statistics folded into them: one launch each, where libtorch's operators need about ten.
 */
final class FilterKernels {
    private static final int WARP = 32;
    private static final int MAX_THREADS = 256;

    private static final class Program {
        static final CudaProgram FILTERS = CudaProgram.of(FilterKernels.class, "filters.cu", Map.of());
    }

    private FilterKernels() {}

    /** Returns whether the kernels apply to the filters of a convolution of such maps, or to such gradients of filters. */
    static boolean isSupported(Tensor mapsOrGradient, Tensor weight) {
        return mapsOrGradient.type() == DType.BF16
                && weight.shape().rank() == 4
                && weight.shape().elements() > 0
                && CudaProgram.isSupported(weight);
    }

    /**
     * Rounds filters.
     *
     * @return {@code [k, c, s, t]} in bfloat16 and channels-last format
     */
    static Tensor rounded(Tensor weight) {
        return folded(weight, null, null);
    }

    static ConvolutionKernels.Prepared fold(Tensor weight, FixedNorm norm, DType biasType) {
        Tensor bias = Tensors.empty(Shape.of(weight.size(0)), biasType, weight.device());
        return new ConvolutionKernels.Prepared(folded(weight, norm, bias), bias);
    }

    /** @param bias receives the bias of the norm, or null without one */
    private static Tensor folded(Tensor weight, @Nullable FixedNorm norm, @Nullable Tensor bias) {
        Tensor result = Tensors.emptyChannelsLast(weight.shape(), DType.BF16, weight.device());
        Program.FILTERS.launch(
                "fold",
                perFilter(weight),
                weight,
                result,
                channels(weight),
                taps(weight),
                norm == null ? null : norm.gamma().value(),
                norm == null ? null : norm.beta().value(),
                norm == null ? null : norm.mean(),
                norm == null ? null : norm.variance(),
                norm == null ? 0f : (float) norm.epsilon(),
                bias,
                bias != null && bias.type() == DType.BF16 ? 1 : 0);
        return result;
    }

    /**
     * Computes the gradient of filters in float32, contiguous as they are.
     *
     * @param gradient gradient of the result of {@link #rounded}
     */
    static Tensor widened(Tensor gradient) {
        Tensor result = Tensors.empty(gradient.shape(), DType.F32, gradient.device());
        backward(gradient, null, null, null, result, null);
        return result;
    }

    static FixedNorm.Gradients backward(Tensor gradient, Tensor sums, Tensor weight, FixedNorm norm) {
        Tensor ofWeight = Tensors.empty(weight.shape(), weight);
        Tensor ofGamma = Tensors.empty(norm.gamma().shape(), weight);
        backward(gradient, sums, weight, norm, ofWeight, ofGamma);
        return new FixedNorm.Gradients(ofWeight, ofGamma, sums);
    }

    private static void backward(
            Tensor gradient,
            @Nullable Tensor sums,
            @Nullable Tensor weight,
            @Nullable FixedNorm norm,
            Tensor ofWeight,
            @Nullable Tensor ofGamma) {
        Program.FILTERS.launch(
                "fold_backward",
                perFilter(gradient),
                gradient.channelsLast(),
                weight,
                ofWeight,
                channels(gradient),
                taps(gradient),
                norm == null ? null : norm.gamma().value(),
                norm == null ? null : norm.mean(),
                norm == null ? null : norm.variance(),
                norm == null ? 0f : (float) norm.epsilon(),
                sums,
                ofGamma);
    }

    /** One block per filter, of whole warps. */
    private static LaunchConfig perFilter(Tensor weight) {
        int warps = Math.ceilDiv(channels(weight) * taps(weight), WARP);
        return new LaunchConfig(
                Math.toIntExact(weight.size(0)), 1, 1, Math.clamp((long) warps * WARP, WARP, MAX_THREADS), 1);
    }

    private static int channels(Tensor weight) {
        return Math.toIntExact(weight.size(1));
    }

    private static int taps(Tensor weight) {
        return Math.toIntExact(weight.size(2) * weight.size(3));
    }
}
