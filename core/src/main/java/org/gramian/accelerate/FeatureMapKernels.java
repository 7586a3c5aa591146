package org.gramian.accelerate;

import java.util.Map;
import java.util.stream.Stream;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.jspecify.annotations.Nullable;

/**
 * CUDA kernels for bfloat16 feature maps in channels-last format, and for rows of tokens, that need less memory traffic
 * than libtorch's operators: indices of maxima are bytes, and the gradient of a bias is summed together with that of its
 * activation.
 */
final class FeatureMapKernels {
    /** Channels per thread. */
    private static final int VECTOR = 8;

    private static final int THREADS = 256;
    private static final int BLOCKS = 528;

    /** Threads of a block in each direction where columns are summed. */
    private static final int TILE = 16;

    /** One block for each multiprocessor of an H200. */
    private static final int FEWEST_BLOCKS = 132;

    /** Rows of a thread, if enough blocks are left. */
    private static final long ROWS = 8;

    private static final class Program {
        static final CudaProgram MAPS = CudaProgram.of(FeatureMapKernels.class, "maps.cu", Map.of());
    }

    private FeatureMapKernels() {}

    /** Returns whether max pooling is supported: windows of at most 256 positions. */
    static boolean isMaxPoolSupported(Tensor maps, Window window) {
        return isSupported(maps)
                && (long) window.size().vertical() * window.size().horizontal() <= 256;
    }

    /** Returns whether the gradient of an activation with value {@code y} can be computed and summed per channel. */
    static boolean isSumSupported(Tensor y) {
        return isSupported(y) && y.size(1) <= (long) VECTOR * THREADS;
    }

    /** Returns whether the bias of a convolution can be added. */
    static boolean isBiasSupported(Tensor maps, Tensor weight, Tensor bias) {
        return bias.type() == DType.F32
                && bias.isContiguous()
                && maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && weight.size(0) % VECTOR == 0
                && maps.shape().elements() > 0
                && CudaProgram.isAvailable();
    }

    /** Returns whether maps are bfloat16 in channels-last format on a GPU, with whole vectors of channels. */
    private static boolean isSupported(Tensor maps) {
        return maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && maps.shape().rank() == 4
                && maps.size(1) % VECTOR == 0
                && maps.shape().elements() > 0
                && maps.isChannelsLast()
                && CudaProgram.isAvailable();
    }

    /** Computes maxima and their indices as bytes: row times columns of the window, plus column. */
    static Window.Maxima max(Tensor maps, Window window) {
        Shape shape = window.outputs(maps.shape());
        Tensor values = Tensors.emptyChannelsLast(shape, DType.BF16, maps.device());
        Tensor places = Tensors.emptyChannelsLast(shape, DType.U8, maps.device());
        launch("max_pool", window, maps.shape(), shape, new Tensor[] {maps, values, places});
        return new Window.Maxima(values, places);
    }

    static Tensor maxBackward(Tensor gradient, Shape maps, Tensor places, Window window) {
        Tensor result = Tensors.emptyChannelsLast(maps, DType.BF16, gradient.device());
        Tensor[] tensors = {gradient.channelsLast(), places, result};
        launch("max_pool_backward", window, maps, gradient.shape(), tensors);
        return result;
    }

    /** @param tensors as the kernel takes them; a thread takes eight elements of the last */
    private static void launch(String kernel, Window window, Shape maps, Shape windows, Tensor[] tensors) {
        long count = tensors[2].shape().elements() / VECTOR;
        Program.MAPS.launch(
                kernel,
                LaunchConfig.over(count),
                tensors[0],
                tensors[1],
                tensors[2],
                (int) maps.at(2),
                (int) maps.at(3),
                (int) windows.at(2),
                (int) windows.at(3),
                (int) maps.at(1) / VECTOR,
                window.size().vertical(),
                window.size().horizontal(),
                window.stride().vertical(),
                window.stride().horizontal(),
                window.padding().vertical(),
                window.padding().horizontal(),
                count);
    }

    /** Returns the bits of the upper bound in bfloat16, above those of all finite numbers if there is none. */
    static int highBits(Activation activation) {
        return activation.high() == Float.POSITIVE_INFINITY ? 0x8000 : Float.floatToIntBits(activation.high()) >>> 16;
    }

    /**
     * Gradient of the input of an activation.
     *
     * @param input gradient in channels-last format, or rows
     * @param partial partial sums per channel or column in float32, {@code [p, c]}
     */
    record GradientWithSums(Tensor input, Tensor partial) {}

    /** Computes {@code g∘[0 < y < bound]}, without the mask for no activation. */
    static GradientWithSums activationBackward(Tensor gradient, Tensor y, Activation activation) {
        Tensor g = gradient.channelsLast();
        boolean masks = activation != Activation.NONE;
        Tensor result = masks ? Tensors.emptyChannelsLast(g.shape(), DType.BF16, g.device()) : g;
        long channels = g.size(1);
        int vectors = Math.toIntExact(channels / VECTOR);
        long rows = g.shape().elements() / channels;
        int blocks = blocks(rows, vectors);
        Tensor partial = Tensors.empty(Shape.of(blocks, channels), DType.F32, g.device());
        Program.MAPS.launch(
                "relu_backward_sums",
                new LaunchConfig(blocks, 1, 1, THREADS, 1),
                g,
                masks ? y : null,
                result == g ? null : result,
                partial,
                rows,
                vectors,
                highBits(activation));
        return new GradientWithSums(result, partial);
    }

    /** Sums the columns of a matrix {@code [m, c]} in float32. */
    static Tensor columnSums(Tensor matrix) {
        return sumOverRows(partialSums("column_sums", matrix.shape(), matrix));
    }

    /** Computes the gradient of GELU with its sums of columns: gradient {@code [m, c]} and argument {@code [m, c]}. */
    static GradientWithSums geluBackward(Tensor g, Tensor x, Gelu form) {
        Tensor result = Tensors.emptyLike(x);
        String kernel = form == Gelu.ERF ? "gelu_erf_backward_sums" : "gelu_tanh_backward_sums";
        return new GradientWithSums(result, partialSums(kernel, x.shape(), g, x, result));
    }

    /** Puts three matrices {@code [m, c]} side by side, {@code [m, 3·c]}, and sums the columns. */
    static GradientWithSums joined(Tensor first, Tensor second, Tensor third) {
        Shape shape = first.shape().with(1, 3 * first.size(1));
        Tensor result = Tensors.empty(shape, first);
        return new GradientWithSums(result, partialSums("join_sums", shape, first, second, third, result));
    }

    /**
     * Launches a kernel that computes partial sums of columns and returns these.
     *
     * @param shape {@code [m, c]}, of which the columns are summed
     */
    private static Tensor partialSums(String kernel, Shape shape, Tensor... tensors) {
        int rows = Math.toIntExact(shape.at(0));
        int tiles = Math.toIntExact(Math.ceilDiv(shape.at(1), (long) VECTOR * TILE));
        int blocks = Math.clamp(Math.ceilDiv(BLOCKS, tiles), 1, Math.ceilDiv(rows, TILE));
        Tensor partial = Tensors.empty(Shape.of(blocks, shape.at(1)), DType.F32, tensors[0].device());
        Stream<Object> after = Stream.of(partial, rows, Math.toIntExact(tensors[0].size(1) / VECTOR));
        Program.MAPS.launch(
                kernel,
                new LaunchConfig(tiles, blocks, 1, TILE, TILE),
                Stream.concat(Stream.of(tensors), after).toArray());
        return partial;
    }

    /**
     * Returns the number of blocks that sum over rows of vectors of channels: few for small maps, whose partial sums
     * would else be as large as the maps.
     */
    private static int blocks(long rows, int vectors) {
        long perThread = Math.ceilDiv(rows, (long) (THREADS / vectors));
        return (int) Math.min(perThread, Math.clamp(Math.ceilDiv(perThread, ROWS), FEWEST_BLOCKS, BLOCKS));
    }

    /** Sums over the rows of a float32 matrix of at most about 1,000 rows, {@code [m, c]} to {@code [c]}, faster than libtorch. */
    static Tensor sumOverRows(Tensor matrix) {
        int columns = Math.toIntExact(matrix.size(1));
        Tensor sums = Tensors.empty(Shape.of(columns), DType.F32, matrix.device());
        Program.MAPS.launch(
                "sum_rows",
                new LaunchConfig(Math.ceilDiv(columns, 32), 1, 1, 32, 32),
                matrix,
                sums,
                Math.toIntExact(matrix.size(0)),
                columns);
        return sums;
    }

    /** Computes {@code y ← activation(y + bias + residual)} and returns y: y {@code [n, c, h, w]}; bias {@code [c]} in float32; residual {@code [n, c, h, w]}, or null. */
    static Tensor addBias(Tensor y, Tensor bias, @Nullable Tensor residual, Activation activation) {
        Tensor maps = y.channelsLast();
        long count = maps.shape().elements() / VECTOR;
        Program.MAPS.launch(
                "bias_activation",
                LaunchConfig.over(count),
                maps,
                bias,
                residual == null ? null : residual.channelsLast(),
                count,
                (int) maps.size(1) / VECTOR,
                activation.low(),
                activation.high());
        return maps;
    }
}
