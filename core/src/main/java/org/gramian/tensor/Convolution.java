package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;
import org.gramian.tensor.Window.Pair;
import org.gramian.tensor.library.Libtorch;
import org.jspecify.annotations.Nullable;

/**
 * Two-dimensional convolution over feature maps {@code [n, c, h, w]}.
 *
 * @param stride step between windows
 * @param padding rows and columns of zeros added on each side
 * @param dilation step between the elements of a window
 * @param groups number of channel groups that are convolved separately
 */
public record Convolution(Pair stride, Pair padding, Pair dilation, int groups) {
    private static final boolean X86_64 = System.getProperty("os.arch").equals("amd64");

    public Convolution {
        if (stride.least() < 1 || padding.least() < 0 || dilation.least() < 1 || groups < 1) {
            throw new IllegalArgumentException(
                    "a convolution needs stride >= 1, padding >= 0, dilation >= 1 and groups >= 1, found stride "
                            + stride + ", padding " + padding + ", dilation " + dilation + ", groups " + groups);
        }
    }

    /** Creates a convolution with equal strides and equal padding in both directions, without dilation. */
    public Convolution(int stride, int padding, int groups) {
        this(new Pair(stride, stride), new Pair(padding, padding), new Pair(1, 1), groups);
    }

    /**
     * Gradients of a convolution; null where not requested.
     *
     * @param input {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}
     */
    public record Gradients(
            @Nullable Tensor input,
            @Nullable Tensor weight,
            @Nullable Tensor bias) {}

    /**
     * Filters in the form in which they are applied.
     *
     * @param weight result of {@link #prepared}
     * @param bias {@code [k]} of the type of the maps, or F32 for BF16 maps; or null
     */
    public record Prepared(Tensor weight, @Nullable Tensor bias) {}

    /** Feature maps and weights of a convolution. */
    public record Inputs(Tensor maps, Tensor weight) {}

    /** Returns a convolution of stride 1 without padding and with one group. */
    public static Convolution plain() {
        return new Convolution(1, 0, 1);
    }

    /**
     * Computes the cross-correlation with weights plus one bias per output channel. The result may be in
     * channels-last format.
     *
     * @param maps {@code [n, c, h, w]}
     * @param weight {@code [k, c/groups, s, t]}
     * @param bias {@code [k]}, or null
     * @return {@code [n, k, h', w']}
     */
    public Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias) {
        checkAll(maps, weight, bias);
        Tensor input = inFastestFormat(maps, weight);
        return DeviceFunctions.result(
                "conv2d",
                (arena, out) -> {
                    MemorySegment x = input.handle();
                    MemorySegment w = weight.handle();
                    MemorySegment b = bias == null ? MemorySegment.NULL : arena.allocateFrom(ADDRESS, bias.handle());
                    MemorySegment steps = stride.in(arena);
                    MemorySegment zeroRows = padding.in(arena);
                    MemorySegment gaps = dilation.in(arena);
                    MemorySegment zeros = new Pair(0, 0).in(arena);
                    long g = groups;
                    MethodHandle f = DeviceFunctions.of(input).convolution;
                    return (int) f.invokeExact(x, w, b, steps, 2L, zeroRows, 2L, gaps, 2L, 0, zeros, 2L, g, out);
                },
                input,
                weight);
    }

    /**
     * Returns the weights in the fastest form for bfloat16 maps: bfloat16 and channels last for tensor cores, unchanged
     * for {@link CudaProgram} kernels. Other weights are returned unchanged.
     */
    public Tensor prepared(Tensor weight, Tensor maps) {
        boolean mixed = maps.type() == DType.BF16 && weight.type() == DType.F32;
        if (!mixed || DepthwiseKernels.suit(maps, weight, this)) {
            return weight.forTensorCores();
        }
        return FilterKernels.suit(maps, weight)
                ? FilterKernels.rounded(weight)
                : weight.to(DType.BF16).forTensorCores();
    }

    /** Returns the gradient of weights from that of {@linkplain #prepared prepared} ones: contiguous and of their type. */
    public static Tensor ofWeight(Tensor gradient, Tensor weight) {
        return FilterKernels.suit(gradient, weight)
                ? FilterKernels.widened(gradient)
                : gradient.contiguous().to(weight.type());
    }

    /** Returns the type in which {@link #apply(Tensor, Tensor, Tensor, Tensor, Activation)} takes biases without converting them. */
    public static DType biasType(Tensor maps, Activation activation) {
        return maps.type() != DType.BF16 || isFused(maps, activation) ? maps.type() : DType.F32;
    }

    /**
     * Computes {@code activation(apply(maps, weight, bias) + residual)}, fused where kernels exist.
     *
     * @param weight result of {@link #prepared}
     * @param bias of the type of the maps, or F32 for BF16 maps
     * @param residual {@code [n, k, h', w']}, or null
     */
    public Tensor apply(
            Tensor maps, Tensor weight, @Nullable Tensor bias, @Nullable Tensor residual, Activation activation) {
        if (residual == null) {
            return apply(maps, weight, bias, activation);
        }
        if (bias != null && isFused(maps, activation) && !DepthwiseKernels.suit(maps, weight, this)) {
            Tensor rounded = bias.to(weight.type());
            checkAll(maps, weight, rounded);
            return Fused.CONVOLUTION_ADD_RELU.call(
                    maps,
                    weight,
                    residual,
                    null, // factor of the residual: 1
                    Optional.of(rounded),
                    stride.toLongs(),
                    padding.toLongs(),
                    dilation.toLongs(),
                    (long) groups);
        }
        if (bias != null && activation.clamps() && FeatureMapKernels.suitBias(maps, weight, bias)) {
            return FeatureMapKernels.addBias(apply(maps, weight, null, Activation.NONE), bias, residual, activation);
        }
        return activation.inPlace(apply(maps, weight, bias, Activation.NONE).add(residual));
    }

    /**
     * Computes {@code activation(apply(maps, weight, bias))}, fused where kernels exist.
     *
     * @param weight result of {@link #prepared}
     * @param bias of the type of the maps, or F32 for BF16 maps
     */
    public Tensor apply(Tensor maps, Tensor weight, @Nullable Tensor bias, Activation activation) {
        if (!activation.clamps()) {
            return activation.inPlace(apply(maps, weight, bias, Activation.NONE));
        }
        if (DepthwiseKernels.suit(maps, weight, this) && (bias == null || bias.type() == DType.F32)) {
            return DepthwiseKernels.apply(maps, weight, bias, this, activation);
        }
        if (StemKernels.suit(maps, weight, this)) {
            check(maps, weight);
            return StemKernels.apply(maps, weight, bias == null ? null : exact(bias, weight), this, activation);
        }
        if (bias == null) {
            return activation.inPlace(apply(maps, weight, null));
        }
        boolean fused = isFused(maps, activation);
        if (!fused && FeatureMapKernels.suitBias(maps, weight, bias)) {
            return FeatureMapKernels.addBias(apply(maps, weight, null), bias, null, activation);
        }
        Tensor rounded = bias.to(weight.type());
        checkAll(maps, weight, rounded);
        if (fused) {
            return Fused.CONVOLUTION_RELU.call(
                    maps, weight, Optional.of(rounded), stride.toLongs(), padding.toLongs(), dilation.toLongs(), (long)
                            groups);
        }
        return activation.inPlace(apply(maps, weight, rounded));
    }

    /** Returns a bias in a type that own kernels take: bfloat16 or float32. */
    private static Tensor exact(Tensor bias, Tensor weight) {
        checkBias(weight, bias);
        return bias.type() == DType.BF16 ? bias : bias.to(DType.F32);
    }

    private static boolean isFused(Tensor input, Activation activation) {
        return activation == Activation.RELU
                && input.type() == DType.BF16
                && input.device().kind() == Device.Kind.CUDA
                && Libtorch.load().hasLists();
    }

    private static final class Fused {
        static final Operator CONVOLUTION_RELU = Operator.of("cudnn_convolution_relu");
        static final Operator CONVOLUTION_ADD_RELU = Operator.of("cudnn_convolution_add_relu");
    }

    /**
     * Computes the gradients of {@link #apply}; that of the weights may be in channels-last format.
     *
     * @param gradient gradient of the result {@code [n, k, h', w']}
     * @param wanted which of the gradients of input, weight and bias to compute
     */
    public Gradients backward(Tensor gradient, Tensor maps, Tensor weight, boolean[] wanted) {
        checkGradient(gradient, maps, weight);
        if (DepthwiseKernels.suit(maps, weight, this)) {
            return new Gradients(
                    wanted[0] ? DepthwiseKernels.backwardInput(gradient, maps.shape(), weight, this) : null,
                    wanted[1] ? DepthwiseKernels.backwardWeight(gradient, maps, weight, this) : null,
                    wanted[2] ? gradient.sum(0, 2, 3).reshape(weight.size(0)) : null);
        }
        check(maps, weight);
        Tensor input = inFastestFormat(maps, weight);
        @Nullable
        Tensor[] gradients = DeviceFunctions.results(
                "backward of conv2d",
                3,
                (arena, out) -> {
                    MemorySegment g = gradient.handle();
                    MemorySegment x = input.handle();
                    MemorySegment w = weight.handle();
                    MemorySegment b = arena.allocateFrom(ADDRESS, arena.allocateFrom(JAVA_LONG, weight.size(0)));
                    MemorySegment steps = stride.in(arena);
                    MemorySegment zeroRows = padding.in(arena);
                    MemorySegment gaps = dilation.in(arena);
                    MemorySegment zeros = new Pair(0, 0).in(arena);
                    MemorySegment mask =
                            arena.allocateFrom(JAVA_INT, wanted[0] ? 1 : 0, wanted[1] ? 1 : 0, wanted[2] ? 1 : 0);
                    // null skips a gradient; otherwise it comes back as an invalid handle
                    MemorySegment dx = wanted[0] ? out : MemorySegment.NULL;
                    MemorySegment dw = wanted[1] ? out.asSlice(8) : MemorySegment.NULL;
                    MemorySegment db = wanted[2] ? out.asSlice(16) : MemorySegment.NULL;
                    long k = groups;
                    MethodHandle f = DeviceFunctions.of(input).convolutionBackward;
                    return (int) f.invokeExact(
                            g, x, w, b, 1L, steps, 2L, zeroRows, 2L, gaps, 2L, 0, zeros, 2L, k, mask, 3L, dx, dw, db);
                },
                input,
                weight);
        return new Gradients(gradients[0], gradients[1], gradients[2]);
    }

    /**
     * Gradient before an activation.
     *
     * @param gradient {@code [n, k, h', w']}
     * @param partial partial sums per channel {@code [p, k]} in float32, or null if no kernel computes them in the same pass
     */
    public record Upstream(Tensor gradient, @Nullable Tensor partial) {
        /**
         * Computes the gradient from that of the activated result.
         *
         * @param gradient gradient of the activated result
         * @param other second summand of that gradient, or null
         * @param value activated result {@code [n, k, h', w']}, or the result before the activation if it {@linkplain
         *     Activation#needsInput needs} that
         * @param wanted whether the sums are needed
         */
        public static Upstream of(
                Tensor gradient, @Nullable Tensor other, Tensor value, Activation activation, boolean wanted) {
            boolean fused = wanted
                    && activation.clamps()
                    && gradient.type() == value.type()
                    && FeatureMapKernels.suitSums(value);
            if (fused) {
                FeatureMapKernels.GradientWithSums passed =
                        FeatureMapKernels.activationBackward(gradient, other, value, activation);
                return new Upstream(passed.input(), passed.partial());
            }
            // else every layer below would convert it
            Tensor g = (other == null ? gradient : gradient.add(other)).forTensorCores();
            if (!activation.clamps()) {
                return of(activation.backward(g, value), null, value, Activation.NONE, wanted);
            }
            return new Upstream(activation.backward(g, value), null);
        }

        /**
         * Computes the gradient from that of max pooling of the activated result. A maximum is the activated value at its
         * position, so the derivative of the activation is applied to the pooled gradient, which is smaller.
         *
         * @param gradient gradient of the maxima
         * @param other second summand of that gradient, or null
         * @param maxima pooled values and their indices
         * @param pool window of the pooling
         * @param result activated result {@code [n, k, h', w']} before the pooling; only its shape is used if the maxima
         *     {@linkplain Window.Maxima#needMaps do not need} more
         * @param activation activation whose derivative follows from its value
         * @param wanted whether the sums are needed
         */
        public static Upstream ofPooled(
                Tensor gradient,
                @Nullable Tensor other,
                Window.Maxima maxima,
                Window pool,
                Tensor result,
                Activation activation,
                boolean wanted) {
            Upstream pooled = of(gradient, other, maxima.values(), activation, wanted);
            return new Upstream(pool.maxBackward(pooled.gradient, result, maxima.places()), pooled.partial);
        }

        /** Returns the gradient, and the partial sums if there are any. */
        public List<Tensor> tensors() {
            return partial == null ? List.of(gradient) : List.of(gradient, partial);
        }
    }

    /**
     * Computes the gradients of {@link #apply}.
     *
     * @param upstream gradient of the result
     * @param wanted which of the gradients of input, weight and bias to compute
     */
    public Gradients backward(Upstream upstream, Inputs inputs, boolean[] wanted) {
        Tensor sums = wanted[2] && upstream.partial != null ? FeatureMapKernels.sumOverRows(upstream.partial) : null;
        boolean[] others = {wanted[0], wanted[1], wanted[2] && sums == null};
        Gradients gradients = backward(upstream.gradient, inputs.maps, inputs.weight, others);
        return new Gradients(gradients.input, gradients.weight, sums == null ? gradients.bias : sums);
    }

    /**
     * Computes the gradients of the filters alone of {@link #apply} followed by an activation, in one pass over the gradient of the
     * result, where kernels do so: for maps with few channels.
     *
     * @param gradient gradient of the activated result
     * @param other second summand of that gradient, or null
     * @param value activated result {@code [n, k, h', w']}
     */
    public Optional<Gradients> backwardOfFilters(
            Tensor gradient, @Nullable Tensor other, Tensor value, Inputs inputs, Activation activation) {
        if (!activation.clamps()
                || gradient.type() != DType.BF16
                || !StemKernels.suit(inputs.maps, inputs.weight, this)) {
            return Optional.empty();
        }
        checkGradient(gradient, inputs.maps, inputs.weight);
        Tensor y = activation == Activation.NONE ? null : value;
        return Optional.of(StemKernels.backward(gradient, other, y, inputs, this, activation));
    }

    /** Returns the output shape for shapes of maps and weights. */
    public Shape output(Shape maps, Shape weight) {
        long rows = windows(maps.at(2), weight.at(2), stride.vertical(), padding.vertical(), dilation.vertical());
        long columns =
                windows(maps.at(3), weight.at(3), stride.horizontal(), padding.horizontal(), dilation.horizontal());
        return Shape.of(maps.at(0), weight.at(0), rows, columns);
    }

    /** Returns the number of windows along the height; 0 if a window does not fit. */
    public long windows(long side, long size) {
        return windows(side, size, stride.vertical(), padding.vertical(), dilation.vertical());
    }

    private static long windows(long side, long size, long step, long border, long gap) {
        return Math.max(0, Math.floorDiv(side + 2 * border - (size - 1) * gap - 1, step) + 1);
    }

    private void checkGradient(Tensor gradient, Tensor input, Tensor weight) {
        Checks.sameKind("backward of conv2d", gradient, input);
        Shape wanted = output(input.shape(), weight.shape());
        if (!gradient.shape().equals(wanted)) {
            throw Checks.mismatch(
                    "backward of conv2d", gradient, input, "the gradient must have the result's shape " + wanted);
        }
    }

    /**
     * Returns feature maps in the fastest memory format for a convolution on the CPU: channels last, where oneDNN on x86-64
     * otherwise reorders the maps of every layer, and matrix products on arm64 read longer rows. On arm64, where a grouped
     * convolution of such maps is slow, maps are contiguous for it. Results and gradients keep the format, so a network pays for
     * one reordering. A 1×1 convolution keeps the format of its input.
     */
    private Tensor inFastestFormat(Tensor maps, Tensor weight) {
        boolean pointwise = weight.size(2) == 1 && weight.size(3) == 1;
        boolean floating = maps.type() == DType.F32 || maps.type() == DType.BF16;
        if (pointwise || !floating || maps.device().kind() != Device.Kind.CPU) {
            return maps;
        }
        if (Libtorch.ARM64 && groups > 1) {
            return maps.contiguous();
        }
        return (X86_64 || Libtorch.ARM64) && maps.isContiguous() ? maps.channelsLast() : maps;
    }

    private void checkAll(Tensor input, Tensor weight, @Nullable Tensor bias) {
        check(input, weight);
        if (bias != null) {
            Checks.sameKind("conv2d", weight, bias);
            checkBias(weight, bias);
        }
    }

    private static void checkBias(Tensor weight, Tensor bias) {
        if (!bias.shape().equals(Shape.of(weight.size(0)))) {
            throw Checks.mismatch("conv2d", weight, bias, "expected one bias per output channel");
        }
    }

    private void check(Tensor input, Tensor weight) {
        Checks.rank("conv2d", input, 4);
        Checks.rank("conv2d", weight, 4);
        Checks.sameKind("conv2d", input, weight);
        if (input.size(1) != weight.size(1) * groups || weight.size(0) % groups != 0) {
            throw Checks.mismatch(
                    "conv2d", input, weight, "channels must be the weights' second size times groups = " + groups);
        }
        if (output(input.shape(), weight.shape()).elements() == 0
                && input.shape().elements() > 0) {
            throw Checks.mismatch(
                    "conv2d", input, weight, "the kernel is larger than the feature maps padded by " + padding);
        }
    }
}
