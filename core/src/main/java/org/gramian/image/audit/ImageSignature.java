package org.gramian.image.audit;

import org.gramian.image.Image;

/**
 * An image in 18×16 colours, by which copies are recognized whatever their size and compression.
 *
 * <p>Each colour is the exact mean of the area it covers, less the mean of the whole image, so that a shift of
 * brightness does not matter. They are kept as bytes relative to the largest: fine textures average to almost nothing,
 * and rounding to whole levels would leave only noise of them.
 *
 * <p>The hash has a bit for each two neighbours in a row of 9×8 gray means: whether the right one is brighter (a "dHash").
 */
final class ImageSignature {
    private static final int COLUMNS = 18;
    private static final int ROWS = 16;
    private static final int HASH_ROWS = 8;
    private static final int HASH_COLUMNS = 9;
    private static final double FULL = 127;

    /** Levels of brightness below which a difference is one of rounding, not of the image. */
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
        double[] means = AreaMeans.of(image, COLUMNS, ROWS);
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

    /** Subtracts each channel's mean; the largest magnitude that is left. */
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
     * {@code ‖a − b‖ / √(‖a‖² + ‖b‖²)} of the deviations: 0 for copies, about 1 for unrelated images, 0 for two images
     * of a single colour each.
     */
    double difference(ImageSignature other) {
        double product = 0;
        for (int i = 0; i < deviations.length; i++) {
            product += deviations[i] * other.deviations[i];
        }
        double all = energy + other.energy;
        return all == 0 ? 0 : Math.sqrt(Math.max(0, 1 - 2 * product * step * other.step / all));
    }
}
