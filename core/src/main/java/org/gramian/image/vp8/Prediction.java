package org.gramian.image.vp8;

import java.util.Arrays;

/** Predicts whole macroblocks of luma or chroma (RFC 6386, sections 12.2 and 12.3). */
final class Prediction {
    private static final int GRAY = 128;

    private Prediction() {}

    /** Fills a square whose first sample has the given column and row. */
    static void fill(Plane plane, Mode mode, int x, int y) {
        int side = plane.side();
        byte[] samples = plane.samples();
        int first = plane.at(x, y);
        switch (mode) {
            case MEAN -> {
                byte mean = (byte) mean(plane, x, y);
                for (int row = 0; row < side; row++) {
                    int at = first + row * plane.stride();
                    Arrays.fill(samples, at, at + side, mean);
                }
            }
            case VERTICAL -> {
                for (int row = 0; row < side; row++) {
                    System.arraycopy(samples, first - plane.stride(), samples, first + row * plane.stride(), side);
                }
            }
            case HORIZONTAL -> {
                for (int row = 0; row < side; row++) {
                    int at = first + row * plane.stride();
                    Arrays.fill(samples, at, at + side, samples[at - 1]);
                }
            }
            case GRADIENT -> gradient(plane, first, side);
            case DIVIDED -> throw new IllegalArgumentException("expected a mode of a whole macroblock, found " + mode);
        }
    }

    /** Each sample is the one above the square plus the one to the left minus the corner. */
    static void gradient(Plane plane, int first, int side) {
        byte[] samples = plane.samples();
        int above = first - plane.stride();
        int corner = samples[above - 1] & 0xff;
        for (int row = 0; row < side; row++) {
            int at = first + row * plane.stride();
            int change = (samples[at - 1] & 0xff) - corner;
            for (int column = 0; column < side; column++) {
                samples[at + column] = (byte) Plane.clamp((samples[above + column] & 0xff) + change);
            }
        }
    }

    /** Of the samples above and to the left that are in the image. */
    private static int mean(Plane plane, int x, int y) {
        int side = plane.side();
        int first = plane.at(x, y);
        int sum = 0;
        int count = 0;
        if (y > 0) {
            for (int i = 0; i < side; i++) {
                sum += plane.samples()[first - plane.stride() + i] & 0xff;
            }
            count += side;
        }
        if (x > 0) {
            for (int i = 0; i < side; i++) {
                sum += plane.samples()[first + i * plane.stride() - 1] & 0xff;
            }
            count += side;
        }
        return count == 0 ? GRAY : (sum + count / 2) / count;
    }
}
