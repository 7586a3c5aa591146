package org.gramian.image.vp8;

import org.gramian.image.vp8.FilterSettings.Strength;

/**
 * Smooths the samples on both sides of one edge between blocks (RFC 6386, sections 15.2 and 15.3).
 *
 * <p>Across an edge, samples are called {@code p3 p2 p1 p0 | q0 q1 q2 q3}; {@code across} is the way from one to the next, and
 * {@code along} the way to the next group of eight.
 */
final class EdgeFilter {
    private final byte[] samples;
    private final int across;
    private final int along;
    private final int length;

    private EdgeFilter(Plane plane, int across, int along) {
        this.samples = plane.samples();
        this.across = across;
        this.along = along;
        this.length = plane.side();
    }

    /** For edges between left and right. */
    static EdgeFilter upright(Plane plane) {
        return new EdgeFilter(plane, 1, plane.stride());
    }

    /** For edges between above and below. */
    static EdgeFilter level(Plane plane) {
        return new EdgeFilter(plane, plane.stride(), 1);
    }

    /**
     * Smooths where the step is within a limit, two samples.
     *
     * @param first the first {@code q0}
     */
    void simple(int first, int limit) {
        for (int i = 0, q0 = first; i < length; i++, q0 += along) {
            if (step(q0) <= 2 * limit + 1) {
                two(q0);
            }
        }
    }

    /** Smooths an edge inside of a macroblock, up to four samples. */
    void inner(int first, Strength strength) {
        int limit = 2 * strength.limit() + 1;
        for (int i = 0, q0 = first; i < length; i++, q0 += along) {
            if (step(q0) <= limit && isEven(q0, strength.interior())) {
                if (isVaried(q0, strength.variance())) {
                    two(q0);
                } else {
                    four(q0);
                }
            }
        }
    }

    /** Smooths an edge between macroblocks, up to six samples. */
    void outer(int first, Strength strength) {
        int limit = 2 * (strength.limit() + LoopFilter.OUTER) + 1;
        for (int i = 0, q0 = first; i < length; i++, q0 += along) {
            if (step(q0) <= limit && isEven(q0, strength.interior())) {
                if (isVaried(q0, strength.variance())) {
                    two(q0);
                } else {
                    six(q0);
                }
            }
        }
    }

    private int at(int i) {
        return samples[i] & 0xff;
    }

    private int difference(int i, int j) {
        return Math.abs((samples[i] & 0xff) - (samples[j] & 0xff));
    }

    private int step(int q0) {
        return 4 * difference(q0 - across, q0) + difference(q0 - 2 * across, q0 + across);
    }

    /** Whether all steps on either side are small. */
    private boolean isEven(int q0, int most) {
        return difference(q0 - 4 * across, q0 - 3 * across) <= most
                && difference(q0 - 3 * across, q0 - 2 * across) <= most
                && difference(q0 - 2 * across, q0 - across) <= most
                && difference(q0 + 3 * across, q0 + 2 * across) <= most
                && difference(q0 + 2 * across, q0 + across) <= most
                && difference(q0 + across, q0) <= most;
    }

    /** Whether the last step on either side is large. */
    private boolean isVaried(int q0, int most) {
        return difference(q0 - 2 * across, q0 - across) > most || difference(q0 + across, q0) > most;
    }

    private void two(int q0) {
        int outer = signed(at(q0 - 2 * across) - at(q0 + across));
        int change = 3 * (at(q0) - at(q0 - across)) + outer;
        move(q0, small((change + 4) >> 3), small((change + 3) >> 3));
    }

    private void four(int q0) {
        int change = 3 * (at(q0) - at(q0 - across));
        int right = small((change + 4) >> 3);
        int half = (right + 1) >> 1;
        add(q0 - 2 * across, half);
        add(q0 + across, -half);
        move(q0, right, small((change + 3) >> 3));
    }

    private void six(int q0) {
        int outer = signed(at(q0 - 2 * across) - at(q0 + across));
        int change = signed(3 * (at(q0) - at(q0 - across)) + outer);
        int near = (27 * change + 63) >> 7;
        int middle = (18 * change + 63) >> 7;
        int far = (9 * change + 63) >> 7;
        add(q0 - 3 * across, far);
        add(q0 - 2 * across, middle);
        move(q0, near, near);
        add(q0 + across, -middle);
        add(q0 + 2 * across, -far);
    }

    private void move(int q0, int right, int left) {
        add(q0 - across, left);
        add(q0, -right);
    }

    private void add(int i, int change) {
        samples[i] = (byte) Plane.clamp(at(i) + change);
    }

    /** Within the range of a signed byte. */
    private static int signed(int value) {
        return Math.clamp(value, -128, 127);
    }

    /** What is left of a signed byte after division by eight. */
    private static int small(int value) {
        return Math.clamp(value, -16, 15);
    }
}
