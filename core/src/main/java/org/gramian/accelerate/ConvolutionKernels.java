package org.gramian.accelerate;

import java.util.List;
import java.util.Optional;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Gradients;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Operator;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Convolution with bias, residual and activation, and its gradients. Each direction uses the kernel with the least memory traffic:
 * {@link DepthwiseKernels}, {@link StemKernels}, cuDNN's fused convolutions, {@link FeatureMapKernels} after a convolution of
 * libtorch, or libtorch's operators alone.
 */
record ConvolutionKernels(Convolution geometry) {
    /**
     * Filters in the form in which they are applied.
     *
     * @param weight result of {@link #prepared}
     * @param bias {@code [k]} of the type of the maps, or F32 for BF16 maps; or null
     */
    record Prepared(Tensor weight, @Nullable Tensor bias) {}

    private static final class Fused {
        static final Operator CONVOLUTION_RELU = Operator.of("cudnn_convolution_relu");
        static final Operator CONVOLUTION_ADD_RELU = Operator.of("cudnn_convolution_add_relu");
    }

    /** Returns bfloat16 maps or filters of a GPU in channels-last format, which tensor cores need; other tensors unchanged. */
    static Tensor forTensorCores(Tensor tensor) {
        boolean wanted = tensor.type() == DType.BF16 && tensor.device().kind() == Device.Kind.CUDA;
        return wanted ? tensor.channelsLast() : tensor;
    }

    /**
     * Returns the weights in the fastest form for bfloat16 maps: bfloat16 and channels last for tensor cores, unchanged
     * for {@link DepthwiseKernels}. Other weights are returned unchanged.
     */
    Tensor prepared(Tensor weight, Tensor maps) {
        boolean mixed = maps.type() == DType.BF16 && weight.type() == DType.F32;
        if (!mixed || DepthwiseKernels.isSupported(maps, weight, geometry)) {
            return forTensorCores(weight);
        }
        return FilterKernels.isSupported(maps, weight)
                ? FilterKernels.rounded(weight)
                : forTensorCores(weight.to(DType.BF16));
    }

    /** Returns the gradient of weights from that of {@linkplain #prepared prepared} ones: contiguous and of their type. */
    static Tensor ofWeight(Tensor gradient, Tensor weight) {
        return FilterKernels.isSupported(gradient, weight)
                ? FilterKernels.widened(gradient)
                : gradient.contiguous().to(weight.type());
    }

    /** Returns the type in which {@link #apply(Tensor, Tensor, Tensor, Tensor, Activation)} takes biases without converting them. */
    static DType biasType(Tensor maps, Activation activation) {
        return maps.type() != DType.BF16 || isFused(maps, activation) ? maps.type() : DType.F32;
    }

    /**
     * Computes {@code activation(W∗x + b + residual)}.
     *
     * @param weight result of {@link #prepared}
     * @param bias of the type of the maps, or F32 for BF16 maps
     * @param residual {@code [n, k, h', w']}, or null
     */
    Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias, @Nullable Tensor residual, Activation activation) {
        if (residual == null) {
            return apply(maps, weight, bias, activation);
        }
        if (bias != null && isFused(maps, activation) && !DepthwiseKernels.isSupported(maps, weight, geometry)) {
            return Fused.CONVOLUTION_ADD_RELU.call(
                    maps,
                    weight,
                    residual,
                    null, // factor of the residual: 1
                    Optional.of(bias.to(weight.type())),
                    geometry.stride().toLongs(),
                    geometry.padding().toLongs(),
                    geometry.dilation().toLongs(),
                    (long) geometry.groups());
        }
        if (bias != null && activation.isClamp() && FeatureMapKernels.isBiasSupported(maps, weight, bias)) {
            return FeatureMapKernels.addBias(apply(maps, weight, null, Activation.NONE), bias, residual, activation);
        }
        return activation.inPlace(apply(maps, weight, bias, Activation.NONE).add(residual));
    }

    private Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias, Activation activation) {
        if (!activation.isClamp()) {
            return activation.inPlace(apply(maps, weight, bias, Activation.NONE));
        }
        if (DepthwiseKernels.isSupported(maps, weight, geometry) && (bias == null || bias.type() == DType.F32)) {
            return DepthwiseKernels.apply(maps, weight, bias, geometry, activation);
        }
        if (StemKernels.isSupported(maps, weight, geometry)) {
            Tensor exact = bias == null || bias.type() == DType.BF16 ? bias : bias.to(DType.F32);
            return StemKernels.apply(maps, weight, exact, geometry, activation);
        }
        if (bias == null) {
            return activation.inPlace(geometry.apply(maps, weight, null));
        }
        boolean fused = isFused(maps, activation);
        if (!fused && FeatureMapKernels.isBiasSupported(maps, weight, bias)) {
            return FeatureMapKernels.addBias(geometry.apply(maps, weight, null), bias, null, activation);
        }
        Tensor rounded = bias.to(weight.type());
        if (fused) {
            return Fused.CONVOLUTION_RELU.call(
                    maps,
                    weight,
                    Optional.of(rounded),
                    geometry.stride().toLongs(),
                    geometry.padding().toLongs(),
                    geometry.dilation().toLongs(),
                    (long) geometry.groups());
        }
        return activation.inPlace(geometry.apply(maps, weight, rounded));
    }

    private static boolean isFused(Tensor input, Activation activation) {
        return activation == Activation.RELU
                && input.type() == DType.BF16
                && input.device().kind() == Device.Kind.CUDA
                && Libtorch.load().hasLists();
    }

    /**
     * Gradient before an activation.
     *
     * @param gradient {@code [n, k, h', w']}
     * @param partial partial sums per channel {@code [p, k]} in float32, or null if no kernel computes them in the same pass
     */
    record Upstream(Tensor gradient, @Nullable Tensor partial) {
        /**
         * Computes the gradient from that of the activated result.
         *
         * @param value activated result {@code [n, k, h', w']}, or the result before the activation if it {@linkplain
         *     Activation#needsInput needs} that
         */
        static Upstream of(Tensor gradient, Tensor value, Activation activation, boolean wanted) {
            boolean fused = wanted
                    && activation.isClamp()
                    && gradient.type() == value.type()
                    && FeatureMapKernels.isSumSupported(value);
            if (fused) {
                FeatureMapKernels.GradientWithSums passed =
                        FeatureMapKernels.activationBackward(gradient, value, activation);
                return new Upstream(passed.input(), passed.partial());
            }
            Tensor g = forTensorCores(gradient); // else every layer below would convert it
            if (!activation.isClamp()) {
                return of(activation.backward(g, value), value, Activation.NONE, wanted);
            }
            return new Upstream(ElementwiseKernels.backward(activation, g, value), null);
        }

        /** Returns the gradient, and the partial sums if there are any. */
        List<Tensor> tensors() {
            return partial == null ? List.of(gradient) : List.of(gradient, partial);
        }
    }

    /** Computes the gradients of maps, weights and bias. */
    Gradients backward(Upstream upstream, Tensor maps, Tensor weight, boolean[] wanted) {
        Tensor sums = wanted[2] && upstream.partial != null ? FeatureMapKernels.sumOverRows(upstream.partial) : null;
        boolean[] others = {wanted[0], wanted[1], wanted[2] && sums == null};
        Gradients gradients = backward(upstream.gradient, maps, weight, others);
        return new Gradients(gradients.input(), gradients.weight(), sums == null ? gradients.bias() : sums);
    }

    private Gradients backward(Tensor gradient, Tensor maps, Tensor weight, boolean[] wanted) {
        if (!DepthwiseKernels.isSupported(maps, weight, geometry)) {
            return geometry.backward(gradient, maps, weight, wanted);
        }
        return new Gradients(
                wanted[0] ? DepthwiseKernels.backwardInput(gradient, maps.shape(), weight, geometry) : null,
                wanted[1] ? DepthwiseKernels.backwardWeight(gradient, maps, weight, geometry) : null,
                wanted[2] ? gradient.sum(0, 2, 3).reshape(weight.size(0)) : null);
    }

    /** Computes the gradients of the filters alone in one pass over the gradient of the result, where {@link StemKernels} do so: activated result {@code [n, k, h', w']}. */
    Optional<Gradients> backwardOfFilters(
            Tensor gradient, Tensor value, Tensor maps, Tensor weight, Activation activation) {
        if (!activation.isClamp()
                || gradient.type() != DType.BF16
                || !StemKernels.isSupported(maps, weight, geometry)) {
            return Optional.empty();
        }
        Tensor y = activation == Activation.NONE ? null : value;
        return Optional.of(StemKernels.backward(gradient, y, maps, weight, geometry, activation));
    }
}
