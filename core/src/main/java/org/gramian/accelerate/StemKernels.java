package org.gramian.accelerate;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * CUDA kernels for convolutions of bfloat16 maps with two to four channels, such as images, in channels-last format, fused with bias
 * and activation. cuDNN's kernels take vectors of eight channels, most of which would be zeros: for the first layer of VGG-16 they
 * need several times as long as it takes to write the result.
 */
final class StemKernels {
    private static final int MAX_CHANNELS = 4;
    private static final int LARGEST_WINDOW = 7;

    /** Results of a row that a block computes at a time. */
    private static final int WIDE = 128;

    /** Columns of the gradient of filters and bias that a warp computes. */
    private static final int COLUMNS = 32;

    /** Blocks of a launch, about as many as run at once: more only repeat the loading of filters, and sums of their own. */
    private static final int BLOCKS = 132 * 3;

    /** Values that a program is compiled for. */
    record Variant(Convolution convolution, Shape weight) {
        CudaProgram program() {
            return CudaProgram.of(
                    StemKernels.class,
                    "stem.cu",
                    Map.of(
                            "C",
                            (int) weight.at(1),
                            "KH",
                            (int) weight.at(2),
                            "KW",
                            (int) weight.at(3),
                            "S",
                            convolution.stride().vertical(),
                            "PH",
                            convolution.padding().vertical(),
                            "PW",
                            convolution.padding().horizontal(),
                            "N",
                            (int) weight.at(0)));
        }

        /** Threads of a block of the backward pass: one warp per {@link #COLUMNS}, and four for a single one. */
        int threads() {
            int groups = Math.toIntExact(weight.elements() / weight.at(0)) / COLUMNS + 1;
            return 32 * (groups == 1 ? 4 : groups);
        }
    }

    private static final Map<Variant, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

    private StemKernels() {}

    /** Returns whether the kernels apply to {@linkplain ConvolutionKernels#prepared prepared} weights: 32 or 64 filters. */
    static boolean isSupported(Tensor maps, Tensor weight, Convolution convolution) {
        return Rule.STEM.isEnabled()
                && maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && maps.size(1) > 1
                && maps.size(1) <= MAX_CHANNELS
                && maps.size(1) == weight.size(1)
                && (weight.size(0) == 32 || weight.size(0) == 64)
                && weight.type() == DType.BF16
                && weight.size(2) == weight.size(3)
                && weight.size(2) <= LARGEST_WINDOW
                && convolution.groups() == 1
                && convolution.dilation().equals(new Window.Pair(1, 1))
                && convolution.stride().vertical() == convolution.stride().horizontal()
                && convolution.stride().vertical() <= 2
                && convolution.padding().vertical() == convolution.padding().horizontal()
                && maps.shape().elements() > 0
                && maps.size(0) * maps.size(2) < Integer.MAX_VALUE / WIDE
                && maps.isChannelsLast()
                && weight.isChannelsLast()
                && CudaProgram.isAvailable()
                && CudaProgram.hasBfloat16TensorCores(maps.device());
    }

    /**
     * Computes {@code activation(W∗x + b)}.
     *
     * @param bias {@code [k]} in bfloat16 or float32, or null
     * @param activation a clamp
     */
    static Tensor apply(
            Tensor maps, Tensor weight, @Nullable Tensor bias, Convolution convolution, Activation activation) {
        Shape shape = convolution.output(maps.shape(), weight.shape());
        Tensor result = Tensors.emptyChannelsLast(shape, DType.BF16, maps.device());
        Tiles tiles = Tiles.of(shape);
        program(weight, convolution)
                .launch(
                        "stem",
                        new LaunchConfig(tiles.blocks(), 1, 1, WIDE, 1),
                        maps,
                        weight,
                        bias,
                        bias != null && bias.type() == DType.BF16 ? 1 : 0,
                        result,
                        tiles.count,
                        tiles.perRow,
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) shape.at(2),
                        (int) shape.at(3),
                        activation.low(),
                        activation.high());
        return result;
    }

    /**
     * Computes the gradients of the filters of {@link #apply}: of the weights in bfloat16 and channels-last format, of the bias in
     * float32.
     *
     * @param gradient gradient of the activated result {@code [n, k, h', w']}
     * @param value activated result, or null for no activation
     */
    static Convolution.Gradients backward(
            Tensor gradient,
            @Nullable Tensor value,
            Tensor maps,
            Tensor weight,
            Convolution convolution,
            Activation activation) {
        Shape filters = weight.shape();
        Tiles tiles = Tiles.of(gradient.shape());
        long count = filters.elements();
        Tensor partial = Tensors.empty(Shape.of(tiles.blocks(), count + filters.at(0)), DType.F32, gradient.device());
        Variant variant = new Variant(convolution, filters);
        program(weight, convolution)
                .launch(
                        "stem_backward",
                        new LaunchConfig(tiles.blocks(), 1, 1, variant.threads(), 1),
                        maps,
                        gradient.channelsLast(),
                        value,
                        partial,
                        tiles.count,
                        tiles.perRow,
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) gradient.size(2),
                        (int) gradient.size(3),
                        FeatureMapKernels.highBits(activation));
        Tensor sums = FeatureMapKernels.sumOverRows(partial);
        Tensor rows = sums.slice(0, 0, count).reshape(filters.at(0), filters.at(2), filters.at(3), filters.at(1));
        return new Convolution.Gradients(
                null, rows.to(DType.BF16).permute(0, 3, 1, 2), sums.slice(0, count, count + filters.at(0)));
    }

    private static CudaProgram program(Tensor weight, Convolution convolution) {
        return PROGRAMS.computeIfAbsent(new Variant(convolution, weight.shape()), Variant::program);
    }

    /** Tiles of results. */
    private record Tiles(int count, int perRow) {
        static Tiles of(Shape results) {
            int perRow = Math.toIntExact(Math.ceilDiv(results.at(3), (long) WIDE));
            return new Tiles(Math.toIntExact(results.at(0) * results.at(2) * perRow), perRow);
        }

        int blocks() {
            return Math.min(count, BLOCKS);
        }
    }
}
