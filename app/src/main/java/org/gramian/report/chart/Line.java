package org.gramian.report.chart;

import java.util.ArrayList;
import java.util.List;

/**
 * Values to draw one after the other, perhaps with a band about them.
 *
 * @param name for the legend
 * @param x places, ascending
 * @param y a value at each; what is not finite is a gap
 * @param band the lower and the upper edge at each place; none where empty
 */
public record Line(String name, List<Double> x, List<Double> y, List<Range> band) {
    /** From one value to another. */
    public record Range(double low, double high) {}

    public Line {
        x = List.copyOf(x);
        y = List.copyOf(y);
        band = List.copyOf(band);
        if (x.size() != y.size() || (!band.isEmpty() && band.size() != x.size())) {
            throw new IllegalArgumentException("expected a value, and a range or none, for each of " + x.size()
                    + " points, found " + y.size() + " and " + band.size());
        }
    }

    /** Without a band. */
    public static Line of(String name, List<Double> x, List<Double> y) {
        return new Line(name, x, y, List.of());
    }

    /** All values that must fit into the drawing. */
    public List<Double> values() {
        List<Double> all = new ArrayList<>(y);
        band.forEach(range -> {
            all.add(range.low());
            all.add(range.high());
        });
        all.removeIf(value -> !Double.isFinite(value));
        return all;
    }
}
