package org.gramian.tensor;

/**
 * The order of feature maps {@code [n, c, h, w]} in memory that convolutions are fastest with: for each position all
 * channels, instead of one map after the other.
 *
 * <p>oneDNN, which convolves on x86-64 processors, otherwise takes every layer's maps into an order of its own and back.
 * What it makes of maps in this order lies in this order too, as do activations, pooling and gradients, so that a network
 * pays for one rearrangement, of the images that enter it. A convolution of single positions (1×1) keeps the order that
 * it finds: alone, before a matrix product over positions, the usual one is faster. Tensor cores of a GPU want maps and
 * filters of BF16 in this order, whatever their size. Where others convolve (arm64, GPU in single precision, double
 * precision) nothing is changed.
 */
public final class ChannelsLast {
    private static final boolean PROCESSOR = System.getProperty("os.arch").equals("amd64");

    private ChannelsLast() {}

    /** The maps in the order that suits a convolution by the given weights; the maps themselves where they have it. */
    static Tensor where(Tensor weight, Tensor maps) {
        boolean single = weight.size(2) == 1 && weight.size(3) == 1;
        boolean suits = PROCESSOR
                && !single
                && maps.device().kind() == Device.Kind.CPU
                && (maps.type() == DType.F32 || maps.type() == DType.BF16);
        return suits && maps.isContiguous() ? Views.channelsLast(maps) : maps;
    }

    /** Maps or filters in the order that tensor cores want, where they are to be convolved by those. */
    public static Tensor onTensorCores(Tensor tensor) {
        boolean wanted = tensor.type() == DType.BF16 && tensor.device().kind() == Device.Kind.CUDA;
        return wanted ? Views.channelsLast(tensor) : tensor;
    }
}
