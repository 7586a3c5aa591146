package org.gramian.report.chart;

import java.util.ArrayList;
import java.util.List;

/**
 * Line of a chart, optionally with a band.
 *
 * @param name legend entry
 * @param x ascending
 * @param y as many values; non-finite ones are gaps
 * @param band range at each x; empty without a band
 */
public record Line(String name, List<Double> x, List<Double> y, List<Range> band) {
    /** Lower and upper edge of a band. */
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

    /** Returns a line without a band. */
    public static Line of(String name, List<Double> x, List<Double> y) {
        return new Line(name, x, y, List.of());
    }

    /** Returns all finite values, including those of the band. */
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
