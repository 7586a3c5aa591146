package org.gramian.serve;

import java.util.Arrays;
import org.gramian.report.DetectorMeasures;
import tools.jackson.databind.node.ObjectNode;

/**
 * Compares the p-values of recent images with those that images like the training images have.
 *
 * <p>Of the last N p-values {@code pᵢ}, each from n calibration scores, the distance of Kolmogorov and Smirnov is
 *
 * <pre>{@code
 * D = max_k | #{i : pᵢ ≤ k/(n + 1)}/N − k/(n + 1) |,  k = 1 … n + 1
 * limit = √(−ln(α/2)/2 · (1/N + 1/n))
 * }</pre>
 *
 * <p>N p-values of images like the training images exceed the limit with a probability of at most about α = {@value #LEVEL}: D is the
 * distance between two samples, recent and calibration scores (N. Smirnov, Annals of Mathematical Statistics 19, 1948).
 */
final class Drift {
    static final double LEVEL = 0.001;

    /** Most recent images that are compared. */
    static final int WINDOW = 500;

    /** Fewer images are not compared. */
    static final int FEWEST = 100;

    private final int calibration;
    private final double[] recent = new double[WINDOW];
    private long added;

    /**
     * Distance of recent images.
     *
     * @param images number of recent images
     * @param distance D; NaN for fewer than {@value #FEWEST} images
     */
    record State(int images, double distance, double limit) {
        boolean isDrift() {
            return distance > limit;
        }

        /** Adds the state to {@code /v1/model}. */
        void describe(ObjectNode document) {
            document.putObject("drift")
                    .put("images", images)
                    .put("detected", isDrift())
                    .put("distance", DetectorMeasures.finite(distance))
                    .put("limit", limit)
                    .put("level", LEVEL);
        }
    }

    Drift(int calibration) {
        this.calibration = calibration;
    }

    synchronized void add(double pValue) {
        recent[(int) (added++ % WINDOW)] = pValue;
    }

    synchronized State state() {
        int images = (int) Math.min(added, WINDOW);
        double limit = Math.sqrt(-Math.log(LEVEL / 2) / 2 * (1.0 / Math.max(1, images) + 1.0 / calibration));
        return new State(images, images < FEWEST ? Double.NaN : distance(Arrays.copyOf(recent, images)), limit);
    }

    private double distance(double[] pValues) {
        int steps = calibration + 1;
        int[] counts = new int[steps + 1];
        for (double p : pValues) {
            counts[(int) Math.clamp(Math.ceil(p * steps - 1e-6), 1, steps)]++;
        }
        double distance = 0;
        int upTo = 0;
        for (int k = 1; k <= steps; k++) {
            upTo += counts[k];
            distance = Math.max(distance, Math.abs((double) upTo / pValues.length - (double) k / steps));
        }
        return distance;
    }
}
