package org.gramian.image.audit.finding;

import java.util.Arrays;
import org.gramian.image.Image;

/**
 * An 18×16 thumbnail and a hash that recognize duplicates of any size and compression.
 *
 * <p>Each colour is the exact mean of its area minus the mean of the image, which makes it invariant to brightness, stored as a
 * byte relative to the largest deviation: the averages of fine textures are small.
 *
 * <p>The hash is a dHash: one bit for each two neighbours in a row of 9×8 gray means, set if the right one is brighter.
 */
final class ImageSignature {
    private static final int COLUMNS = 18;
    private static final int ROWS = 16;
    private static final int HASH_ROWS = 8;
    private static final int HASH_COLUMNS = 9;
    private static final double FULL = 127;

    /** Brightness difference that is attributed to rounding. */
    private static final double ROUNDING = 1e-6;

    private final long hash;
    private final double step;
    private final double energy;
    private final byte[] deviations;

    private ImageSignature(long hash, double step, byte[] deviations) {
        this.hash = hash;
        this.step = step;
        this.deviations = deviations;
        double sum = 0;
        for (byte deviation : deviations) {
            sum += deviation * deviation;
        }
        this.energy = sum * step * step;
    }

    static ImageSignature of(Image image) {
        double[] means = areaMeans(image, COLUMNS, ROWS);
        long hash = hash(means);
        double largest = centre(means);
        byte[] deviations = new byte[means.length];
        if (largest > ROUNDING) {
            for (int i = 0; i < means.length; i++) {
                deviations[i] = (byte) Math.round(means[i] / largest * FULL);
            }
        }
        return new ImageSignature(hash, largest / FULL, deviations);
    }

    private static double centre(double[] means) {
        double largest = 0;
        for (int channel = 0; channel < 3; channel++) {
            double sum = 0;
            for (int i = channel; i < means.length; i += 3) {
                sum += means[i];
            }
            double mean = sum / (COLUMNS * ROWS);
            for (int i = channel; i < means.length; i += 3) {
                means[i] -= mean;
                largest = Math.max(largest, Math.abs(means[i]));
            }
        }
        return largest;
    }

    private static long hash(double[] means) {
        double[] gray = new double[HASH_COLUMNS * HASH_ROWS];
        for (int y = 0; y < ROWS; y++) {
            for (int x = 0; x < COLUMNS; x++) {
                int from = 3 * (y * COLUMNS + x);
                int to = y * HASH_ROWS / ROWS * HASH_COLUMNS + x * HASH_COLUMNS / COLUMNS;
                gray[to] += 0.299 * means[from] + 0.587 * means[from + 1] + 0.114 * means[from + 2];
            }
        }
        long bits = 0;
        for (int y = 0; y < HASH_ROWS; y++) {
            for (int x = 0; x < HASH_COLUMNS - 1; x++) {
                int at = y * HASH_COLUMNS + x;
                bits = bits << 1 | (gray[at] + ROUNDING < gray[at + 1] ? 1 : 0);
            }
        }
        return bits;
    }

    long hash() {
        return hash;
    }

    /**
     * Returns {@code ‖a − b‖ / √(‖a‖² + ‖b‖²)} of the deviations: 0 for duplicates and for two images of a single colour, about 1
     * for unrelated images.
     */
    double difference(ImageSignature other) {
        double product = 0;
        for (int i = 0; i < deviations.length; i++) {
            product += deviations[i] * other.deviations[i];
        }
        double all = energy + other.energy;
        return all == 0 ? 0 : Math.sqrt(Math.max(0, 1 - 2 * product * step * other.step / all));
    }

    /**
     * Returns the mean colour of every cell of a grid over the image, {@code [rows, columns, 3]}. A pixel cut by a line of the grid
     * counts by area on each side, so images of any size, also smaller than the grid, have comparable means.
     */
    static double[] areaMeans(Image image, int columns, int rows) {
        int width = image.width();
        double[] means = new double[3 * columns * rows];
        double[] line = new double[3 * width];
        for (int row = 0; row < rows; row++) {
            sumRows(image, row, rows, line);
            double area = (double) width / columns * image.height() / rows;
            for (int column = 0; column < columns; column++) {
                int to = 3 * (row * columns + column);
                double start = (double) column * width / columns;
                double end = (double) (column + 1) * width / columns;
                for (int x = (int) start; x < width && x < end; x++) {
                    double share = share(x, start, end) / area;
                    means[to] += share * line[3 * x];
                    means[to + 1] += share * line[3 * x + 1];
                    means[to + 2] += share * line[3 * x + 2];
                }
            }
        }
        return means;
    }

    private static void sumRows(Image image, int row, int rows, double[] line) {
        byte[] rgb = image.rgb();
        int height = image.height();
        double start = (double) row * height / rows;
        double end = (double) (row + 1) * height / rows;
        Arrays.fill(line, 0);
        for (int y = (int) start; y < height && y < end; y++) {
            double share = share(y, start, end);
            int from = y * line.length;
            for (int i = 0; i < line.length; i++) {
                line[i] += share * (rgb[from + i] & 0xff);
            }
        }
    }

    private static double share(int at, double start, double end) {
        return Math.max(0, Math.min(end, at + 1) - Math.max(start, at));
    }
}
