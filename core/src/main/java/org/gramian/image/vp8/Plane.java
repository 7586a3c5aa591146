package org.gramian.image.vp8;

import java.util.Arrays;

/**
 * The samples of one component in whole macroblocks, with the initial context of prediction: a row of 127 above, corner
 * included, and a column of 129 to the left (RFC 6386, section 12.2).
 */
final class Plane {
    private static final byte ABOVE = 127;
    private static final byte LEFT = (byte) 129;

    private final byte[] samples;
    private final int stride;
    private final int side;

    /**
     * @param columns number of macroblocks in a row
     * @param rows number of rows of macroblocks
     * @param side columns and rows of samples in a macroblock
     */
    Plane(int columns, int rows, int side) {
        this.side = side;
        this.stride = side * columns + 1;
        int height = side * rows;
        this.samples = new byte[Math.multiplyExact(stride, height + 1)];
        Arrays.fill(samples, 0, stride, ABOVE);
        for (int y = 0; y < height; y++) {
            samples[at(-1, y)] = LEFT;
        }
    }

    byte[] samples() {
        return samples;
    }

    int stride() {
        return stride;
    }

    /** Columns and rows of samples in a macroblock. */
    int side() {
        return side;
    }

    /** Returns the index of a sample; column and row may be −1. */
    int at(int x, int y) {
        return (y + 1) * stride + x + 1;
    }

    /** Clamps to 0..255. */
    static int clamp(int value) {
        return (value & ~0xff) == 0 ? value : value < 0 ? 0 : 255;
    }
}
