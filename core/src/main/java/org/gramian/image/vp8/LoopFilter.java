package org.gramian.image.vp8;

import org.gramian.image.vp8.FilterSettings.Strength;

/**
 * Smooths the edges between macroblocks and between the blocks in them, when the whole frame is there: prediction goes by the
 * samples before (RFC 6386, section 15).
 */
final class LoopFilter {
    /** How much larger a step is smoothed between macroblocks than inside. */
    static final int OUTER = 4;

    private static final int BLOCK = 4;

    private final Strength[] strengths = new Strength[2 * Segments.COUNT];
    private final boolean simple;
    private final boolean off;
    private final int columns;

    /** For each macroblock its strength and whether edges inside of it are smoothed. */
    private final byte[] choices;

    LoopFilter(FrameHeader header, FrameTag tag) {
        simple = header.filter().simple();
        off = header.filter().level() == 0;
        for (int i = 0; i < strengths.length; i++) {
            strengths[i] = header.filter().of(header.segments(), i >> 1, (i & 1) != 0);
        }
        columns = tag.columns();
        choices = new byte[off ? 0 : columns * tag.rows()];
    }

    /** Takes note of a macroblock: one with nothing added to its prediction as a whole has no edges inside. */
    void note(Macroblock block, boolean added, int column, int row) {
        if (!off) {
            int strength = 2 * block.segment + (block.divided() ? 1 : 0);
            boolean inside = added || block.divided();
            choices[row * columns + column] = (byte) (2 * strength + (inside ? 1 : 0));
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
        EdgeFilter upright = EdgeFilter.upright(plane);
        EdgeFilter level = EdgeFilter.level(plane);
        for (int i = 0; i < choices.length; i++) {
            int column = i % columns;
            int row = i / columns;
            Strength strength = strengths[choices[i] >> 1];
            if (strength.limit() > 0) {
                int first = plane.at(column * plane.side(), row * plane.side());
                boolean inside = (choices[i] & 1) != 0;
                edges(upright, new Edges(first, BLOCK, column > 0, inside ? plane.side() : 0), strength);
                edges(level, new Edges(first, BLOCK * plane.stride(), row > 0, inside ? plane.side() : 0), strength);
            }
        }
    }

    /**
     * The edges of one direction in a macroblock.
     *
     * @param first its first sample
     * @param step from one edge to the next
     * @param outer whether there is a macroblock before it
     * @param end samples up to which there are edges inside
     */
    private record Edges(int first, int step, boolean outer, int end) {}

    private void edges(EdgeFilter filter, Edges edges, Strength strength) {
        if (edges.outer) {
            if (simple) {
                filter.simple(edges.first, strength.limit() + OUTER);
            } else {
                filter.outer(edges.first, strength);
            }
        }
        for (int i = BLOCK, at = edges.first + edges.step; i < edges.end; i += BLOCK, at += edges.step) {
            if (simple) {
                filter.simple(at, strength.limit());
            } else {
                filter.inner(at, strength);
            }
        }
    }
}
