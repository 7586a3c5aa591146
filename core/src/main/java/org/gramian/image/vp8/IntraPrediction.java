package org.gramian.image.vp8;

import java.util.Arrays;

/**
 * Predicts macroblocks and luma subblocks of a plane from the samples above and to the left (RFC 6386, section 12).
 *
 * <p>The edge of a subblock runs from the lower left over the corner to the upper right: the left samples from the
 * bottom up at 0 to 3, the corner at 4, the samples above at 5 to 8, those above and to the right at 9 to 12.
 */
final class IntraPrediction {
    private static final int GRAY = 128;
    private static final int CORNER = 4;
    private static final int ABOVE = 5;
    private static final int BLOCK = 4;

    private final int[] edge = new int[13];
    private final Plane plane;
    private final byte[] samples;
    private final int stride;

    IntraPrediction(Plane plane) {
        this.plane = plane;
        this.samples = plane.samples();
        this.stride = plane.stride();
    }

    /** Predicts the macroblock whose first sample has the given column and row. */
    void macroblock(Macroblock.Mode mode, int x, int y) {
        int side = plane.side();
        int first = plane.at(x, y);
        switch (mode) {
            case DC -> {
                byte mean = (byte) mean(x, y);
                for (int row = 0; row < side; row++) {
                    int at = first + row * stride;
                    Arrays.fill(samples, at, at + side, mean);
                }
            }
            case VERTICAL -> {
                for (int row = 0; row < side; row++) {
                    System.arraycopy(samples, first - stride, samples, first + row * stride, side);
                }
            }
            case HORIZONTAL -> {
                for (int row = 0; row < side; row++) {
                    int at = first + row * stride;
                    Arrays.fill(samples, at, at + side, samples[at - 1]);
                }
            }
            case TRUE_MOTION -> trueMotion(first, side);
            case SUBBLOCKS ->
                throw new IllegalArgumentException("expected a mode of a whole macroblock, found " + mode);
        }
    }

    /** Returns the mean of the samples above and to the left that lie inside the image. */
    private int mean(int x, int y) {
        int side = plane.side();
        int first = plane.at(x, y);
        int sum = 0;
        for (int i = 0; i < side; i++) {
            sum += (y > 0 ? samples[first - stride + i] & 0xff : 0)
                    + (x > 0 ? samples[first + i * stride - 1] & 0xff : 0);
        }
        int count = (y > 0 ? side : 0) + (x > 0 ? side : 0);
        return count == 0 ? GRAY : (sum + count / 2) / count;
    }

    /** Sets each sample to above plus left minus corner. */
    private void trueMotion(int first, int side) {
        int above = first - stride;
        int corner = samples[above - 1] & 0xff;
        for (int row = 0; row < side; row++) {
            int at = first + row * stride;
            int change = (samples[at - 1] & 0xff) - corner;
            for (int column = 0; column < side; column++) {
                samples[at + column] = (byte) Plane.clamp((samples[above + column] & 0xff) + change);
            }
        }
    }

    /**
     * Predicts a subblock of 4×4 samples.
     *
     * @param mode one of {@link Macroblock#DC_PRED} to {@link Macroblock#HU_PRED}
     * @param first index of its first sample
     * @param right the four samples above and to the right, one byte each
     */
    void subblock(int mode, int first, int right) {
        for (int i = 0; i < BLOCK; i++) {
            edge[i] = samples[first + (3 - i) * stride - 1] & 0xff;
            edge[ABOVE + i] = samples[first - stride + i] & 0xff;
            edge[ABOVE + BLOCK + i] = right >> (8 * i) & 0xff;
        }
        edge[CORNER] = samples[first - stride - 1] & 0xff;
        switch (mode) {
            case Macroblock.DC_PRED -> dc(first);
            case Macroblock.TM_PRED -> trueMotion(first, BLOCK);
            case Macroblock.VE_PRED -> vertical(first);
            case Macroblock.HE_PRED -> horizontal(first);
            case Macroblock.LD_PRED -> leftDown(first);
            case Macroblock.RD_PRED -> rightDown(first);
            case Macroblock.VR_PRED -> verticalRight(first);
            case Macroblock.VL_PRED -> verticalLeft(first);
            case Macroblock.HD_PRED -> horizontalDown(first);
            case Macroblock.HU_PRED -> horizontalUp(first);
            default -> throw new IllegalArgumentException("expected a mode from 0 to 9, found " + mode);
        }
    }

    /** Returns four samples in a row, the first in the lowest byte. */
    int four(int at) {
        return (samples[at] & 0xff)
                | (samples[at + 1] & 0xff) << 8
                | (samples[at + 2] & 0xff) << 16
                | (samples[at + 3] << 24);
    }

    /** Returns the mean of edge samples {@code i} and {@code i + 1}. */
    private int two(int i) {
        return (edge[i] + edge[i + 1] + 1) >> 1;
    }

    /** Returns the mean of three edge samples around {@code i} with weights 1, 2, 1. */
    private int three(int i) {
        return weighted(edge[i - 1], edge[i], edge[i + 1]);
    }

    private static int weighted(int before, int middle, int after) {
        return (before + 2 * middle + after + 2) >> 2;
    }

    private void set(int first, int x, int y, int value) {
        samples[first + y * stride + x] = (byte) value;
    }

    private void dc(int first) {
        int sum = 4;
        for (int i = 0; i < BLOCK; i++) {
            sum += edge[i] + edge[ABOVE + i];
        }
        for (int i = 0; i < BLOCK * BLOCK; i++) {
            set(first, i & 3, i >> 2, sum >> 3);
        }
    }

    private void vertical(int first) {
        for (int i = 0; i < BLOCK * BLOCK; i++) {
            set(first, i & 3, i >> 2, three(ABOVE + (i & 3)));
        }
    }

    private void horizontal(int first) {
        for (int x = 0; x < BLOCK; x++) {
            for (int y = 0; y < 3; y++) {
                set(first, x, y, three(3 - y));
            }
            set(first, x, 3, weighted(edge[1], edge[0], edge[0]));
        }
    }

    private void leftDown(int first) {
        for (int i = 0; i < BLOCK * BLOCK - 1; i++) {
            set(first, i & 3, i >> 2, three(ABOVE + 1 + (i & 3) + (i >> 2)));
        }
        set(first, 3, 3, weighted(edge[11], edge[12], edge[12]));
    }

    private void rightDown(int first) {
        for (int i = 0; i < BLOCK * BLOCK; i++) {
            set(first, i & 3, i >> 2, three(CORNER + (i & 3) - (i >> 2)));
        }
    }

    private void verticalRight(int first) {
        for (int x = 0; x < BLOCK; x++) {
            set(first, x, 0, two(CORNER + x));
            set(first, x, 1, three(CORNER + x));
        }
        set(first, 0, 2, three(3));
        set(first, 0, 3, three(2));
        for (int x = 1; x < BLOCK; x++) {
            set(first, x, 2, two(CORNER + x - 1));
            set(first, x, 3, three(CORNER + x - 1));
        }
    }

    private void verticalLeft(int first) {
        for (int x = 0; x < BLOCK; x++) {
            set(first, x, 0, two(ABOVE + x));
            set(first, x, 1, three(ABOVE + 1 + x));
        }
        for (int x = 0; x < 3; x++) {
            set(first, x, 2, two(ABOVE + 1 + x));
            set(first, x, 3, three(ABOVE + 2 + x));
        }
        // The standard breaks the pattern of the other columns here.
        set(first, 3, 2, three(ABOVE + 5));
        set(first, 3, 3, three(ABOVE + 6));
    }

    private void horizontalDown(int first) {
        for (int y = 0; y < BLOCK; y++) {
            set(first, 0, y, two(3 - y));
            set(first, 1, y, three(CORNER - y));
        }
        set(first, 2, 0, three(ABOVE));
        set(first, 3, 0, three(ABOVE + 1));
        for (int y = 1; y < BLOCK; y++) {
            set(first, 2, y, two(CORNER - y));
            set(first, 3, y, three(ABOVE - y));
        }
    }

    private void horizontalUp(int first) {
        int last = edge[0];
        int[] values = {two(2), three(2), two(1), three(1), two(0), weighted(edge[1], last, last)};
        for (int i = 0; i < BLOCK * BLOCK; i++) {
            int at = (i & 3) + 2 * (i >> 2);
            set(first, i & 3, i >> 2, at < values.length ? values[at] : last);
        }
    }
}
