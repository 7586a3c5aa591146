package org.gramian.tensor;

import java.util.Arrays;
import org.gramian.tensor.CudaProgram.Grid;
import org.gramian.tensor.ElementwiseKernels.ReluBound;

/**
 * Passes over feature maps of BF16 with channels last for which libtorch takes more memory traffic, in kernels of our own on a
 * GPU: places of maxima are bytes instead of longs, and the gradient of a bias is summed while that of its ReLU is made.
 */
final class MapKernels {
    /** Channels that a thread takes. */
    private static final int VECTOR = 8;

    private static final int THREADS = 256;
    private static final int BLOCKS = 2048;

    private static final class Program {
        static final CudaProgram MAPS = CudaProgram.beside(MapKernels.class, "maps.cu");
    }

    private MapKernels() {}

    /** Whether maxima of maps are found by these, in windows of at most 256 places. */
    static boolean suitMaxima(Tensor maps, Window window) {
        return suit(maps) && (long) window.size().vertical() * window.size().horizontal() <= 256;
    }

    /** Whether the gradient of a ReLU whose value is {@code y} is passed on, and summed by channel, by these. */
    static boolean suitSums(Tensor y) {
        return suit(y) && y.size(1) <= (long) VECTOR * THREADS;
    }

    private static boolean suit(Tensor maps) {
        return maps.type() == DType.BF16
                && maps.device().kind() == Device.Kind.CUDA
                && maps.shape().rank() == 4
                && maps.size(1) % VECTOR == 0
                && maps.shape().elements() > 0
                && Arrays.equals(maps.strides(), Views.channelsLastStrides(maps.shape()))
                && CudaProgram.isAvailable();
    }

    /** Places are bytes: row times columns of the window, plus column. */
    static Window.Maxima max(Tensor maps, Window window) {
        Shape shape = window.outputs(maps.shape());
        Tensor values = Tensors.emptyChannelsLast(shape, DType.BF16, maps.device());
        Tensor places = Tensors.emptyChannelsLast(shape, DType.U8, maps.device());
        launch("max_pool", window, maps.shape(), shape, new Tensor[] {maps, values, places});
        return new Window.Maxima(values, places);
    }

    static Tensor maxBackward(Tensor gradient, Shape maps, Tensor places, Window window) {
        Tensor result = Tensors.emptyChannelsLast(maps, DType.BF16, gradient.device());
        Tensor[] tensors = {Views.channelsLast(gradient), places, result};
        launch("max_pool_backward", window, maps, gradient.shape(), tensors);
        return result;
    }

    /** @param tensors as the kernel takes them; a thread takes eight elements of the last */
    private static void launch(String kernel, Window window, Shape maps, Shape windows, Tensor[] tensors) {
        long count = tensors[2].shape().elements() / VECTOR;
        Program.MAPS.launch(
                kernel,
                Grid.over(count),
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

    /**
     * A gradient that has passed a ReLU.
     *
     * @param input as its value lies
     * @param sums of each channel, F32
     */
    record Passed(Tensor input, Tensor sums) {}

    static Passed reluBackward(Tensor g, Tensor y, ReluBound bound) {
        Tensor upstream = Views.channelsLast(g);
        Tensor result = Tensors.emptyLike(y);
        int vectors = Math.toIntExact(y.size(1) / VECTOR);
        long rows = y.shape().elements() / y.size(1);
        int blocks = (int) Math.min(BLOCKS, Math.ceilDiv(rows, (long) (THREADS / vectors)));
        Tensor partial = Tensors.empty(Shape.of(blocks, y.size(1)), DType.F32, y.device());
        Program.MAPS.launch(
                "relu_backward_sums",
                new Grid(blocks, 1, 1, THREADS, 1),
                upstream,
                y,
                result,
                partial,
                rows,
                vectors,
                bound.bits());
        return new Passed(result, Views.reshape(Reductions.sum(partial, 0), y.size(1)));
    }
}
