package org.gramian.report.chart;

/**
 * Marker of a class by colour and shape, so that neither is needed alone. After {@value #COLOURS} classes the colours repeat with
 * other shapes, after {@code COLOURS × SHAPES} everything repeats.
 *
 * @param colour index into the palette
 * @param path SVG path data of the shape about the origin
 */
public record Marker(int colour, String path) {
    /** Number of colours of the palette. */
    public static final int COLOURS = 8;

    private static final String[] SHAPES = {
        "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
        "M-3.5 -3.5H3.5V3.5H-3.5Z",
        "M0 -4.7L4.3 3.2H-4.3Z",
        "M0 -5L5 0L0 5L-5 0Z",
        "M0 4.7L4.3 -3.2H-4.3Z",
        "M-1.5 -4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
        "M-4.8 -2.3H4.8V2.3H-4.8Z",
        "M-2.3 -4.8H2.3V4.8H-2.3Z"
    };

    /** Returns the marker of a class, counted from 0; neighbours differ in colour and shape. */
    public static Marker of(int kind) {
        int round = kind / COLOURS;
        return new Marker(kind % COLOURS, SHAPES[(kind + round) % SHAPES.length]);
    }

    /** Returns the number of distinct markers. */
    public static int most() {
        return COLOURS * SHAPES.length;
    }
}
