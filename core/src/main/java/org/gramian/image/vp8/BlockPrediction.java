package org.gramian.image.vp8;

/**
 * Predicts a block of 4×4 samples of luma from the 13 samples around it (RFC 6386, section 12.3).
 *
 * <p>The edge goes from the lower left, up to the corner, and on to the upper right: left samples from the bottom up at 0 to 3, the
 * corner at 4, those above at 5 to 8, those above and to the right at 9 to 12.
 */
final class BlockPrediction {
    private static final int CORNER = 4;
    private static final int ABOVE = 5;
    private static final int SIDE = 4;

    private final int[] edge = new int[13];
    private final byte[] samples;
    private final int stride;
    private final Plane plane;

    BlockPrediction(Plane plane) {
        this.plane = plane;
        this.samples = plane.samples();
        this.stride = plane.stride();
    }

    /**
     * Fills a block.
     *
     * @param mode one of {@link BlockMode}
     * @param first its first sample
     * @param right the four samples above and to the right, where they are not next to those above, one byte each
     */
    void fill(int mode, int first, int right) {
        gather(first, right);
        switch (mode) {
            case BlockMode.MEAN -> mean(first);
            case BlockMode.GRADIENT -> Prediction.gradient(plane, first, SIDE);
            case BlockMode.VERTICAL -> vertical(first);
            case BlockMode.HORIZONTAL -> horizontal(first);
            case BlockMode.LEFT_DOWN -> leftDown(first);
            case BlockMode.RIGHT_DOWN -> rightDown(first);
            case BlockMode.VERTICAL_RIGHT -> verticalRight(first);
            case BlockMode.VERTICAL_LEFT -> verticalLeft(first);
            case BlockMode.HORIZONTAL_DOWN -> horizontalDown(first);
            case BlockMode.HORIZONTAL_UP -> horizontalUp(first);
            default -> throw new IllegalArgumentException("expected a mode from 0 to 9, found " + mode);
        }
    }

    private void gather(int first, int right) {
        for (int i = 0; i < SIDE; i++) {
            edge[i] = samples[first + (3 - i) * stride - 1] & 0xff;
            edge[ABOVE + i] = samples[first - stride + i] & 0xff;
            edge[ABOVE + SIDE + i] = right >> (8 * i) & 0xff;
        }
        edge[CORNER] = samples[first - stride - 1] & 0xff;
    }

    /** Four samples in a row from the given one on, the first in the lowest byte. */
    int four(int at) {
        return (samples[at] & 0xff)
                | (samples[at + 1] & 0xff) << 8
                | (samples[at + 2] & 0xff) << 16
                | (samples[at + 3] << 24);
    }

    /** The mean of two neighbours on the edge, from {@code i} on. */
    private int two(int i) {
        return (edge[i] + edge[i + 1] + 1) >> 1;
    }

    /** The mean of three neighbours on the edge, {@code i} in the middle and counting twice. */
    private int three(int i) {
        return weighted(edge[i - 1], edge[i], edge[i + 1]);
    }

    private static int weighted(int before, int middle, int after) {
        return (before + 2 * middle + after + 2) >> 2;
    }

    private void set(int first, int x, int y, int value) {
        samples[first + y * stride + x] = (byte) value;
    }

    private void mean(int first) {
        int sum = 4;
        for (int i = 0; i < SIDE; i++) {
            sum += edge[i] + edge[ABOVE + i];
        }
        for (int i = 0; i < SIDE * SIDE; i++) {
            set(first, i & 3, i >> 2, sum >> 3);
        }
    }

    private void vertical(int first) {
        for (int i = 0; i < SIDE * SIDE; i++) {
            set(first, i & 3, i >> 2, three(ABOVE + (i & 3)));
        }
    }

    private void horizontal(int first) {
        for (int x = 0; x < SIDE; x++) {
            for (int y = 0; y < 3; y++) {
                set(first, x, y, three(3 - y));
            }
            set(first, x, 3, weighted(edge[1], edge[0], edge[0]));
        }
    }

    private void leftDown(int first) {
        for (int i = 0; i < SIDE * SIDE - 1; i++) {
            set(first, i & 3, i >> 2, three(ABOVE + 1 + (i & 3) + (i >> 2)));
        }
        set(first, 3, 3, weighted(edge[11], edge[12], edge[12]));
    }

    private void rightDown(int first) {
        for (int i = 0; i < SIDE * SIDE; i++) {
            set(first, i & 3, i >> 2, three(CORNER + (i & 3) - (i >> 2)));
        }
    }

    private void verticalRight(int first) {
        for (int x = 0; x < SIDE; x++) {
            set(first, x, 0, two(CORNER + x));
            set(first, x, 1, three(CORNER + x));
        }
        set(first, 0, 2, three(3));
        set(first, 0, 3, three(2));
        for (int x = 1; x < SIDE; x++) {
            set(first, x, 2, two(CORNER + x - 1));
            set(first, x, 3, three(CORNER + x - 1));
        }
    }

    private void verticalLeft(int first) {
        for (int x = 0; x < SIDE; x++) {
            set(first, x, 0, two(ABOVE + x));
            set(first, x, 1, three(ABOVE + 1 + x));
        }
        for (int x = 0; x < 3; x++) {
            set(first, x, 2, two(ABOVE + 1 + x));
            set(first, x, 3, three(ABOVE + 2 + x));
        }
        // Here the standard does not go on as in the other columns.
        set(first, 3, 2, three(ABOVE + 5));
        set(first, 3, 3, three(ABOVE + 6));
    }

    private void horizontalDown(int first) {
        for (int y = 0; y < SIDE; y++) {
            set(first, 0, y, two(3 - y));
            set(first, 1, y, three(CORNER - y));
        }
        set(first, 2, 0, three(ABOVE));
        set(first, 3, 0, three(ABOVE + 1));
        for (int y = 1; y < SIDE; y++) {
            set(first, 2, y, two(CORNER - y));
            set(first, 3, y, three(ABOVE - y));
        }
    }

    private void horizontalUp(int first) {
        set(first, 0, 0, two(2));
        set(first, 1, 0, three(2));
        set(first, 2, 0, two(1));
        set(first, 3, 0, three(1));
        set(first, 0, 1, two(1));
        set(first, 1, 1, three(1));
        set(first, 2, 1, two(0));
        set(first, 3, 1, weighted(edge[1], edge[0], edge[0]));
        set(first, 0, 2, two(0));
        set(first, 1, 2, weighted(edge[1], edge[0], edge[0]));
        set(first, 2, 2, edge[0]);
        set(first, 3, 2, edge[0]);
        for (int x = 0; x < SIDE; x++) {
            set(first, x, 3, edge[0]);
        }
    }
}
