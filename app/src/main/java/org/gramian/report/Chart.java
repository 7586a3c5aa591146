package org.gramian.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** Line chart, which the template {@code run/chart.jte} draws as SVG. */
public record Chart(String title, Axis x, Axis y, List<Line> lines, List<Rule> rules) {
    /** Width of the plot area of the SVG, without labels. */
    public static final int WIDTH = 400;

    /** Height of the plot area of the SVG, without labels. */
    public static final int HEIGHT = 220;

    /** Number of colours of the palette. */
    public static final int COLOURS = 8;

    private static final int DASHES = 4;

    /** Lines with more points have no point markers: they would overlap. */
    private static final int MARKED = 40;

    /** Axis with ticks at round numbers. */
    public record Axis(String title, Scale scale, List<Scale.Tick> ticks) {
        public static Axis of(String title, Scale scale) {
            return new Axis(title, scale, scale.ticks());
        }

        public static Axis counting(String title, Scale scale) {
            return new Axis(title, scale, scale.wholeTicks());
        }
    }

    /**
     * Line at x = 1, 2, ….
     *
     * @param y values; non-finite ones are gaps
     * @param band range at each x; empty without a band
     */
    public record Line(String name, List<Double> y, List<Range> band) {
        public static Line of(String name, List<Double> y) {
            return new Line(name, y, List.of());
        }

        /** Returns all finite values, including those of the band. */
        public List<Double> values() {
            List<Double> all = new ArrayList<>(y);
            band.forEach(range -> all.addAll(List.of(range.low(), range.high())));
            all.removeIf(value -> !Double.isFinite(value));
            return all;
        }
    }

    public record Range(double low, double high) {}

    /** Labelled vertical line at an x value. */
    public record Rule(double at, String text) {}

    /**
     * Line in SVG coordinates.
     *
     * @param area path data of the band; empty without a band
     */
    public record Series(String name, int colour, int dash, String path, String area, List<Mark> marks) {}

    /** Point marker in SVG coordinates, with a tooltip. */
    public record Mark(double x, double y, String text) {}

    /** Returns whether the title leaves open what the lines are. */
    public boolean hasLegend() {
        return lines.size() > 1 || lines.stream().anyMatch(line -> !line.name().equals(title));
    }

    public List<Series> series() {
        List<Series> series = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            // Another dash pattern when the colours repeat.
            int dash = (i + i / COLOURS) % DASHES;
            series.add(new Series(line.name(), i % COLOURS, dash, path(line), area(line), marks(line)));
        }
        return series;
    }

    public double across(Scale.Tick tick) {
        return round(tick.at() * WIDTH);
    }

    public double down(Scale.Tick tick) {
        return round((1 - tick.at()) * HEIGHT);
    }

    public double across(double value) {
        return round(x.scale().at(value) * WIDTH);
    }

    private double down(double value) {
        return round((1 - y.scale().at(value)) * HEIGHT);
    }

    private static double round(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private String path(Line line) {
        StringBuilder path = new StringBuilder();
        boolean pen = false;
        for (int i = 0; i < line.y().size(); i++) {
            boolean drawn = Double.isFinite(line.y().get(i));
            if (drawn) {
                path.append(pen ? "L" : "M").append(point(i, line.y().get(i)));
            }
            pen = drawn;
        }
        return path.toString();
    }

    private String point(int index, double value) {
        return across(index + 1) + " " + down(value);
    }

    /** Runs along the upper edge and back along the lower one. */
    private String area(Line line) {
        if (line.band().isEmpty()) {
            return "";
        }
        StringJoiner path = new StringJoiner("L", "M", "Z");
        for (int i = 0; i < line.band().size(); i++) {
            path.add(point(i, line.band().get(i).high()));
        }
        for (int i = line.band().size() - 1; i >= 0; i--) {
            path.add(point(i, line.band().get(i).low()));
        }
        return path.toString();
    }

    private List<Mark> marks(Line line) {
        List<Mark> marks = new ArrayList<>();
        for (int i = 0; i < line.y().size() && line.y().size() <= MARKED; i++) {
            double value = line.y().get(i);
            if (Double.isFinite(value)) {
                String text = String.format(Locale.ROOT, "%s, %s %.4g: %.4g", line.name(), x.title(), i + 1.0, value);
                marks.add(new Mark(across(i + 1), down(value), text));
            }
        }
        return marks;
    }
}
