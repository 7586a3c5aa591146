package org.gramian.backbone;

import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Convolution;

/**
 * The window of a convolution in a network.
 *
 * <p>TensorFlow's SAME padding puts the odd row of zeros of an even side at its far end: at stride 2 the windows of a
 * side of 224 begin at 0, 2, 4, …, where a symmetric border of {@code size / 2} would have them begin at −1, 1, 3, ….
 * Instead of copying the maps into larger ones, the <em>weights</em> get a row of zeros at their near end: a window of
 * one row more that begins one row earlier, but looks at the same rows. It costs nothing where the maps are large.
 *
 * @param size rows and columns, odd
 * @param stride step between windows, 1 or 2
 * @param border what lies beyond the maps
 * @param depthwise whether each map is convolved with a filter of its own
 */
public record Kernel(int size, int stride, Border border, boolean depthwise) {
    /** What lies beyond the maps. */
    public enum Border {
        /** {@code size / 2} rows of zeros on every side. */
        HALF,
        /** As many zeros as make {@code ceil(side / stride)} windows, the odd one at the far end (TensorFlow). */
        SAME,
        /** Nothing: windows lie inside. */
        NONE
    }

    public Kernel {
        if (size < 1 || size % 2 == 0 || stride < 1 || stride > 2) {
            throw new IllegalArgumentException(
                    "expected an odd kernel size and a stride of 1 or 2, found size " + size + ", stride " + stride);
        }
    }

    /** The operator for maps of so many channels. */
    Convolution convolution(long channels) {
        return new Convolution(stride, border == Border.NONE ? 0 : size / 2, depthwise ? Math.toIntExact(channels) : 1);
    }

    /** Number of windows along a side. */
    public long windows(long side) {
        return convolution(1).windows(side, size + extra(side));
    }

    /** The weights for maps of the given sides. */
    Var fitted(Var weight, long height, long width) {
        Var rows = extra(height) == 0 ? weight : Shapes.zerosBefore(weight, 2, extra(height));
        return extra(width) == 0 ? rows : Shapes.zerosBefore(rows, 3, extra(width));
    }

    /** Rows of zeros before the maps along a side, for the weights as they are: the row that SAME leaves out is not counted. */
    public int before(long side) {
        return convolution(1).padding() - extra(side);
    }

    /** Rows of zeros after the maps. */
    public int after() {
        return convolution(1).padding();
    }

    private int extra(long side) {
        return border == Border.SAME && size > 1 && stride == 2 && side % 2 == 0 ? 1 : 0;
    }
}
