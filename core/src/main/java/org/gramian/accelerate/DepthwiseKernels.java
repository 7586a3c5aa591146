package org.gramian.accelerate;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * CUDA kernels for depthwise convolutions of bfloat16 maps in channels-last format, fused with bias and activation. For
 * EfficientNet-Lite4 they take a fifth of the time of cuDNN, which has no fast kernels for windows of even size.
 */
final class DepthwiseKernels {
    /** Channels per thread. */
    private static final int PAIR = 2;

    /** Largest number of threads along the channels of a block: its weights then fit into shared memory. */
    private static final int LANES = 64;

    private static final int THREADS = 128;
    private static final int LARGEST_WINDOW = 7;

    /** Blocks of a launch, as many as run at once: more only repeat the loading of weights. */
    private static final int BLOCKS = 132 * 3;

    /** Rows of a walk, so that there are enough walks in large maps. */
    private static final int TALL = 28;

    /** Values that a program is compiled for. */
    record Variant(int window, int stride, int padding) {
        /** Groups of {@code stride} columns in a walk of the gradient of the maps. */
        static final int GROUPS = 2;

        CudaProgram program() {
            return CudaProgram.of(
                    DepthwiseKernels.class,
                    "depthwise.cu",
                    Map.of("K", window, "S", stride, "P", padding, "PAIRS", LANES, "WIDE", wide(), "GROUPS", GROUPS));
        }

        /** Columns of results of a walk. */
        int wide() {
            return stride == 2 ? (window <= 6 ? 4 : 2) : window <= 5 ? 7 : 4;
        }
    }

    private static final Map<Variant, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

    private DepthwiseKernels() {}

    /** Returns whether the kernels apply: one square float32 filter per channel, stride 1 or 2. */
    static boolean isSupported(Tensor maps, Tensor weight, Convolution convolution) {
        return Rule.DEPTHWISE.isEnabled()
                && convolution.groups() > 1
                && convolution.groups() == maps.size(1)
                && weight.size(0) == maps.size(1)
                && weight.size(2) == weight.size(3)
                && weight.size(2) <= LARGEST_WINDOW
                && convolution.equals(new Convolution(stride(convolution), padding(convolution), convolution.groups()))
                && padding(convolution) < weight.size(2)
                && stride(convolution) <= 2
                && weight.type() == DType.F32
                && weight.isContiguous()
                && maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && maps.size(1) % PAIR == 0
                && maps.shape().elements() > 0
                && maps.shape().elements() / maps.size(0) < Integer.MAX_VALUE
                && maps.size(0) * maps.size(2) * maps.size(3) < Integer.MAX_VALUE
                && maps.isChannelsLast()
                && CudaProgram.isAvailable();
    }

    private static int stride(Convolution convolution) {
        return convolution.stride().vertical();
    }

    private static int padding(Convolution convolution) {
        return convolution.padding().vertical();
    }

    static Tensor apply(
            Tensor maps, Tensor weight, @Nullable Tensor bias, Convolution convolution, Activation activation) {
        Shape shape = convolution.output(maps.shape(), weight.shape());
        return convolve(
                maps, shape, weight, bias, variant(weight, convolution), padding(convolution), false, activation);
    }

    /** Computes the gradient of the maps; at stride 1 it is a convolution with weights rotated by 180°. */
    static Tensor backwardInput(Tensor gradient, Shape maps, Tensor weight, Convolution convolution) {
        Tensor upstream = gradient.channelsLast();
        Variant variant = variant(weight, convolution);
        int stride = stride(convolution);
        if (stride == 1) {
            int padding = variant.window() - 1 - padding(convolution);
            return convolve(upstream, maps, weight, null, variant, padding, true, Activation.NONE);
        }
        Tensor result = Tensors.emptyChannelsLast(maps, DType.BF16, gradient.device());
        int shift = padding(convolution) % stride;
        Walks walks = new Walks(
                maps.at(0),
                Math.ceilDiv(maps.at(2) + shift, stride),
                Math.ceilDiv(maps.at(3) + shift, stride),
                Variant.GROUPS);
        program(variant)
                .launch(
                        "depthwise_input",
                        walks.launch(maps.at(1), variant),
                        upstream,
                        weight,
                        result,
                        walks.count(),
                        TALL,
                        (int) maps.at(2),
                        (int) maps.at(3),
                        (int) gradient.size(2),
                        (int) gradient.size(3),
                        (int) maps.at(1) / PAIR);
        return result;
    }

    private static Tensor convolve(
            Tensor maps,
            Shape shape,
            Tensor weight,
            @Nullable Tensor bias,
            Variant variant,
            int padding,
            boolean flipped,
            Activation activation) {
        Tensor result = Tensors.emptyChannelsLast(shape, DType.BF16, maps.device());
        Walks walks = new Walks(shape.at(0), shape.at(2), shape.at(3), variant.wide());
        program(variant)
                .launch(
                        "depthwise",
                        walks.launch(shape.at(1), variant),
                        maps,
                        weight,
                        bias,
                        result,
                        walks.count(),
                        TALL,
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) shape.at(2),
                        (int) shape.at(3),
                        (int) shape.at(1) / PAIR,
                        padding,
                        flipped ? 1 : 0,
                        activation.low(),
                        activation.high());
        return result;
    }

    /** Computes the gradient of the weights in float32. */
    static Tensor backwardWeight(Tensor gradient, Tensor maps, Tensor weight, Convolution convolution) {
        Tensor upstream = gradient.channelsLast();
        Variant variant = variant(weight, convolution);
        Walks walks = new Walks(gradient.size(0), gradient.size(2), gradient.size(3), variant.wide());
        LaunchConfig launch = walks.launch(maps.size(1), variant);
        Tensor partial = Tensors.empty(Shape.of(launch.x(), weight.shape().elements()), DType.F32, maps.device());
        program(variant)
                .launch(
                        "depthwise_weight",
                        launch,
                        upstream,
                        maps,
                        partial,
                        walks.count(),
                        TALL,
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) gradient.size(2),
                        (int) gradient.size(3),
                        (int) maps.size(1) / PAIR);
        return FeatureMapKernels.sumOverRows(partial).reshape(weight.shape().sizes());
    }

    private static Variant variant(Tensor weight, Convolution convolution) {
        return new Variant((int) weight.size(2), stride(convolution), padding(convolution));
    }

    private static CudaProgram program(Variant variant) {
        return PROGRAMS.computeIfAbsent(variant, Variant::program);
    }

    /** The walks over all images: each of {@code wide} columns and {@link #TALL} rows. */
    private record Walks(long images, long rows, long columns, int wide) {
        int count() {
            return Math.toIntExact(images * Math.ceilDiv(rows, TALL) * Math.ceilDiv(columns, wide));
        }

        /** Threads over the walks and channels, all blocks with the same number of walks where that is possible. */
        LaunchConfig launch(long channels, Variant variant) {
            int pairs = (int) channels / PAIR;
            int lanes = lanes(pairs);
            int across = pairs / lanes;
            int workers = Math.max(1, THREADS / lanes);
            int most = Math.max(1, (variant.window() <= 3 ? 2 * BLOCKS : BLOCKS) / across);
            int rounds = Math.ceilDiv(count(), workers * most);
            return new LaunchConfig(Math.ceilDiv(count(), workers * rounds), across, 1, lanes, workers);
        }
    }

    /** Returns the largest divisor that is at most {@link #LANES}. */
    private static int lanes(int pairs) {
        int lanes = Math.min(pairs, LANES);
        while (pairs % lanes != 0) {
            lanes--;
        }
        return lanes;
    }
}
