package org.gramian.backbone.network;

import org.gramian.autodiff.Var;
import org.gramian.tensor.Convolution;

/**
 * Kernel size, stride and padding of a convolution.
 *
 * <p>TensorFlow's SAME padding puts the odd row of zeros of an even side at the end: at stride 2 the windows of a side
 * of 224 start at 0, 2, 4, …, with symmetric padding of {@code size / 2} at −1, 1, 3, …. Instead of padding the maps,
 * the <em>weights</em> get a leading row of zeros: a window that starts one row earlier and covers the same rows. That
 * costs nothing for large maps.
 */
public record ConvolutionKernel(int size, int stride, Border border, boolean depthwise) {
    /** Padding of the feature maps. */
    public enum Border {
        /** {@code size / 2} rows of zeros on every side. */
        HALF,
        /** Zeros for {@code ceil(side / stride)} windows, the odd one at the end (TensorFlow). */
        SAME,
        /** No padding. */
        NONE
    }

    /** Returns the operator for a number of channels. */
    public Convolution convolution(long channels) {
        return new Convolution(stride, border == Border.NONE ? 0 : size / 2, depthwise ? Math.toIntExact(channels) : 1);
    }

    /** Returns the number of windows along a side. */
    public long windows(long side) {
        return convolution(1).windows(side, size + extra(side));
    }

    /** Pads the weights for maps of the given height and width. */
    public Var fitted(Var weight, long height, long width) {
        Var rows = extra(height) == 0 ? weight : weight.zerosBefore(2, extra(height));
        return extra(width) == 0 ? rows : rows.zerosBefore(3, extra(width));
    }

    /**
     * Returns the rows of zeros before the maps along a side, for unpadded weights; SAME has one less at stride 2 and
     * an even side.
     */
    public int before(long side) {
        return convolution(1).padding().vertical() - extra(side);
    }

    /** Returns the rows of zeros after the maps. */
    public int after() {
        return convolution(1).padding().vertical();
    }

    private int extra(long side) {
        return border == Border.SAME && size > 1 && stride == 2 && side % 2 == 0 ? 1 : 0;
    }
}
