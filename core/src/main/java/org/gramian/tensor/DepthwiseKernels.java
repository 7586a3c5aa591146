package org.gramian.tensor;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.CudaProgram.Grid;
import org.jspecify.annotations.Nullable;

/**
 * Depthwise convolutions of BF16 maps with channels last in kernels of our own on a GPU: for EfficientNet-Lite4 they take a fifth
 * of the time of cuDNN's, which has no fast ones for windows of even size, and the bias and the activation come with them.
 */
final class DepthwiseKernels {
    /** Channels that a thread takes. */
    private static final int VECTOR = 4;

    /** The most threads along the channels of a block: its weights then fit into shared memory. */
    private static final int LANES = 60;

    private static final int THREADS = 256;
    private static final int LARGEST_WINDOW = 7;

    /** Blocks of a launch: more only repeat the loading of weights. */
    private static final int BLOCKS = 132 * 8;

    /** Strips for each thread at least, where there are enough. */
    private static final int LEAST_STRIPS = 2;

    private static final int WEIGHT_BLOCKS = 132 * 4;

    /** What a program is compiled for. */
    private record Variant(int window, int stride, int padding, int strip) {
        CudaProgram program() {
            return CudaProgram.beside(
                    DepthwiseKernels.class,
                    "depthwise.cu",
                    Map.of("K", window, "S", stride, "P", padding, "STRIP", strip));
        }
    }

    private static final Map<Variant, CudaProgram> PROGRAMS = new ConcurrentHashMap<>();

    private DepthwiseKernels() {}

    /** Whether these convolve such maps: one filter of a square window for each channel, F32, stride 1 or 2. */
    static boolean suit(Tensor maps, Tensor weight, Convolution convolution) {
        return convolution.groups() > 1
                && convolution.groups() == maps.size(1)
                && weight.size(0) == maps.size(1)
                && weight.size(2) == weight.size(3)
                && weight.size(2) <= LARGEST_WINDOW
                && convolution.padding() < weight.size(2)
                && convolution.stride() <= 2
                && weight.type() == DType.F32
                && weight.isContiguous()
                && maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && maps.size(1) % VECTOR == 0
                && maps.shape().elements() > 0
                && maps.shape().elements() / maps.size(0) < Integer.MAX_VALUE
                && maps.size(0) * maps.size(2) * maps.size(3) < Integer.MAX_VALUE
                && Arrays.equals(maps.strides(), Views.channelsLastStrides(maps.shape()))
                && CudaProgram.isAvailable();
    }

    static Tensor apply(
            Tensor maps, Tensor weight, @Nullable Tensor bias, Convolution convolution, Activation activation) {
        Shape shape = convolution.output(maps.shape(), weight.shape());
        Tensor result = Tensors.emptyChannelsLast(shape, DType.BF16, maps.device());
        int strip = strip(convolution, shape.at(3));
        program(weight, convolution, strip)
                .launch(
                        "depthwise",
                        grid(shape, strip),
                        maps,
                        weight,
                        bias == null ? 0L : bias,
                        result,
                        (int) maps.size(0),
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) shape.at(2),
                        (int) shape.at(3),
                        (int) maps.size(1) / VECTOR,
                        activation.low,
                        activation.high);
        return result;
    }

    /** The gradient of maps of a shape for that of the result. */
    static Tensor backwardInput(Tensor gradient, Shape maps, Tensor weight, Convolution convolution) {
        Tensor result = Tensors.emptyChannelsLast(maps, DType.BF16, gradient.device());
        Tensor upstream = Views.channelsLast(gradient);
        int strip = strip(convolution, maps.at(3));
        program(weight, convolution, strip)
                .launch(
                        "depthwise_input",
                        grid(maps, strip),
                        upstream,
                        weight,
                        result,
                        (int) maps.at(0),
                        (int) maps.at(2),
                        (int) maps.at(3),
                        (int) gradient.size(2),
                        (int) gradient.size(3),
                        (int) maps.at(1) / VECTOR);
        return result;
    }

    /** The gradient of the weights, F32. */
    static Tensor backwardWeight(Tensor gradient, Tensor maps, Tensor weight, Convolution convolution) {
        Tensor upstream = Views.channelsLast(gradient);
        int vectors = (int) maps.size(1) / VECTOR;
        int lanes = lanes(vectors);
        int window = (int) weight.size(2);
        int workers = Math.max(1, THREADS / (lanes * window));
        int rows = (int) (gradient.size(0) * gradient.size(2));
        int blocks = Math.clamp(WEIGHT_BLOCKS / (vectors / lanes), 1, Math.ceilDiv(rows, workers));
        Tensor partial = Tensors.empty(Shape.of(blocks, weight.shape().elements()), DType.F32, maps.device());
        program(weight, convolution, strip(convolution, maps.size(3)))
                .launch(
                        "depthwise_weight",
                        new Grid(blocks, vectors / lanes, 1, lanes, window * workers),
                        upstream,
                        maps,
                        partial,
                        (int) maps.size(0),
                        (int) maps.size(2),
                        (int) maps.size(3),
                        (int) gradient.size(2),
                        (int) gradient.size(3),
                        vectors);
        return Views.reshape(MapKernels.sumRows(partial), weight.shape().sizes());
    }

    private static CudaProgram program(Tensor weight, Convolution convolution, int strip) {
        return PROGRAMS.computeIfAbsent(
                new Variant((int) weight.size(2), convolution.stride(), convolution.padding(), strip),
                Variant::program);
    }

    /** Positions of a row that a thread takes: the number that divides a width best. */
    private static int strip(Convolution convolution, long width) {
        if (convolution.stride() == 2) {
            return 4;
        }
        int best = 7;
        for (int strip : new int[] {8, 5}) {
            if (Math.ceilDiv(width, strip) * strip < Math.ceilDiv(width, best) * best) {
                best = strip;
            }
        }
        return best;
    }

    /** Threads over the strips and channels of maps. */
    private static Grid grid(Shape maps, int strip) {
        int vectors = (int) maps.at(1) / VECTOR;
        int lanes = lanes(vectors);
        int down = THREADS / lanes;
        long strips = maps.at(0) * maps.at(2) * Math.ceilDiv(maps.at(3), strip);
        int most = Math.max(1, BLOCKS / (vectors / lanes));
        int blocks = (int) Math.min(most, Math.ceilDiv(strips, (long) LEAST_STRIPS * down));
        return new Grid(blocks, vectors / lanes, 1, lanes, down);
    }

    /** The largest divisor that is at most {@link #LANES}. */
    private static int lanes(int vectors) {
        int lanes = Math.min(vectors, LANES);
        while (vectors % lanes != 0) {
            lanes--;
        }
        return lanes;
    }
}
