package org.gramian.tensor;

/**
 * Channels-last memory format of feature maps {@code [batch, channels, height, width]}, the fastest one for
 * convolutions.
 *
 * <p>On x86-64 oneDNN otherwise reorders the maps of every layer to a format of its own and back. Results of operators
 * on channels-last maps are channels-last too, as are activations, pooling and gradients, so a network pays for one
 * reordering, of its input. A 1×1 convolution keeps the format of its input: before a matrix product over positions the
 * contiguous format is faster. Tensor cores need bfloat16 maps and filters in this format. Nothing changes on arm64,
 * for float32 on a GPU and for float64.
 */
public final class ChannelsLast {
    private static final boolean PROCESSOR = System.getProperty("os.arch").equals("amd64");

    private ChannelsLast() {}

    /**
     * Returns the maps in the format that suits a convolution with the given weights; the maps themselves if they have
     * it.
     */
    static Tensor where(Tensor weight, Tensor maps) {
        boolean single = weight.size(2) == 1 && weight.size(3) == 1;
        boolean suits = PROCESSOR
                && !single
                && maps.device().kind() == Device.Kind.CPU
                && (maps.type() == DType.F32 || maps.type() == DType.BF16);
        return suits && maps.isContiguous() ? Views.channelsLast(maps) : maps;
    }

    /** Returns bfloat16 tensors of a GPU in channels-last format, other tensors unchanged. */
    public static Tensor onTensorCores(Tensor tensor) {
        boolean wanted = tensor.type() == DType.BF16 && tensor.device().kind() == Device.Kind.CUDA;
        return wanted ? Views.channelsLast(tensor) : tensor;
    }
}
