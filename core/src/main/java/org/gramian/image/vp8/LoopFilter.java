package org.gramian.image.vp8;

import org.gramian.image.vp8.FrameHeader.Filter.Limits;
import org.gramian.image.vp8.FrameHeader.Segments;

/**
 * Smooths the edges between macroblocks and between their subblocks (RFC 6386, section 15). It runs on the whole frame, since
 * prediction uses unfiltered samples.
 */
final class LoopFilter {
    /** Added to the edge limit at edges between macroblocks. */
    private static final int OUTER = 4;

    private static final int BLOCK = 4;

    private final Limits[] limits = new Limits[2 * Segments.COUNT];
    private final boolean simple;
    private final boolean off;
    private final int columns;

    /** For each macroblock its index in {@link #limits}, and in the lowest bit whether its inner edges are filtered. */
    private final byte[] choices;

    LoopFilter(FrameHeader header, FrameHeader.Tag tag) {
        simple = header.filter().simple();
        off = header.filter().level() == 0;
        for (int i = 0; i < limits.length; i++) {
            limits[i] = header.filter().limits(header.segments(), i >> 1, (i & 1) != 0);
        }
        columns = tag.columns();
        choices = new byte[off ? 0 : columns * tag.rows()];
    }

    /** Records a macroblock. Without coefficients and subblock prediction its inner edges are not filtered. */
    void record(Macroblock block, boolean hasCoefficients, int column, int row) {
        if (!off) {
            int index = 2 * block.segment + (block.hasSubblocks() ? 1 : 0);
            boolean inner = hasCoefficients || block.hasSubblocks();
            choices[row * columns + column] = (byte) (2 * index + (inner ? 1 : 0));
        }
    }

    /** Filters the frame. */
    void apply(Plane luma, Plane... chroma) {
        filter(luma);
        if (!simple) {
            for (Plane plane : chroma) {
                filter(plane);
            }
        }
    }

    private void filter(Plane plane) {
        EdgeFilter vertical = new EdgeFilter(plane, 1, plane.stride());
        EdgeFilter horizontal = new EdgeFilter(plane, plane.stride(), 1);
        for (int i = 0; i < choices.length; i++) {
            int column = i % columns;
            int row = i / columns;
            Limits limit = limits[choices[i] >> 1];
            if (limit.edge() > 0) {
                int first = plane.at(column * plane.side(), row * plane.side());
                int end = (choices[i] & 1) != 0 ? plane.side() : 0;
                edges(vertical, first, column > 0, end, limit);
                edges(horizontal, first, row > 0, end, limit);
            }
        }
    }

    /**
     * Filters the edges of one direction in a macroblock.
     *
     * @param first index of its first sample
     * @param outer whether there is a macroblock before it
     * @param end samples up to which inner edges are filtered
     */
    private void edges(EdgeFilter filter, int first, boolean outer, int end, Limits limit) {
        if (outer) {
            if (simple) {
                filter.simple(first, limit.edge() + OUTER);
            } else {
                filter.normal(first, limit, true);
            }
        }
        for (int i = BLOCK; i < end; i += BLOCK) {
            if (simple) {
                filter.simple(first + i * filter.across, limit.edge());
            } else {
                filter.normal(first + i * filter.across, limit, false);
            }
        }
    }

    /**
     * Filters the samples on both sides of one edge (sections 15.2 and 15.3).
     *
     * <p>Samples across the edge are {@code p3 p2 p1 p0 | q0 q1 q2 q3}; {@code across} is the step from one to the next and
     * {@code along} the step to the next group of eight.
     */
    private static final class EdgeFilter {
        private final byte[] samples;
        private final int across;
        private final int along;
        private final int length;

        EdgeFilter(Plane plane, int across, int along) {
            this.samples = plane.samples();
            this.across = across;
            this.along = along;
            this.length = plane.side();
        }

        /**
         * Changes the two samples next to the edge.
         *
         * @param first index of the first {@code q0}
         */
        void simple(int first, int limit) {
            for (int i = 0, q0 = first; i < length; i++, q0 += along) {
                if (step(q0) <= 2 * limit + 1) {
                    two(q0);
                }
            }
        }

        /** Changes up to four samples at an inner edge and up to six at an edge between macroblocks. */
        void normal(int first, Limits limit, boolean outer) {
            int most = 2 * (limit.edge() + (outer ? OUTER : 0)) + 1;
            for (int i = 0, q0 = first; i < length; i++, q0 += along) {
                if (step(q0) <= most && isSmooth(q0, limit.interior())) {
                    if (hasHighVariance(q0, limit.variance())) {
                        two(q0);
                    } else if (outer) {
                        six(q0);
                    } else {
                        four(q0);
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

        private boolean isSmooth(int q0, int most) {
            return difference(q0 - 4 * across, q0 - 3 * across) <= most
                    && difference(q0 - 3 * across, q0 - 2 * across) <= most
                    && difference(q0 - 2 * across, q0 - across) <= most
                    && difference(q0 + 3 * across, q0 + 2 * across) <= most
                    && difference(q0 + 2 * across, q0 + across) <= most
                    && difference(q0 + across, q0) <= most;
        }

        private boolean hasHighVariance(int q0, int most) {
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

        /** Clamps to the range of a signed byte. */
        private static int signed(int value) {
            return Math.clamp(value, -128, 127);
        }

        /** Clamps to the range of a signed byte divided by eight. */
        private static int small(int value) {
            return Math.clamp(value, -16, 15);
        }
    }
}
