package org.gramian.report.chart;

import java.util.List;

/**
 * A line as it is drawn.
 *
 * @param name for the legend
 * @param style which colour and dash
 * @param path of the line, in the form of SVG
 * @param area of the band about it, in the form of SVG; empty without one
 * @param marks its points, where there are few enough to tell apart
 */
public record Series(String name, int style, String path, String area, List<Mark> marks) {
    /**
     * A point.
     *
     * @param x from the left
     * @param y from the top
     * @param text its values, for people
     */
    public record Mark(double x, double y, String text) {}

    public Series {
        marks = List.copyOf(marks);
    }
}
