package org.gramian.report.chart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Lines between two axes.
 *
 * @param title what is shown, also for those who cannot see it
 * @param x from the left to the right
 * @param y from the bottom to the top
 * @param series the lines
 * @param rules upright lines that mark places
 */
public record Chart(String title, Axis x, Axis y, List<Series> series, List<Rule> rules) {
    /** The drawing's inner width, without labels. */
    public static final int WIDTH = 400;

    /** The drawing's inner height, without labels. */
    public static final int HEIGHT = 220;

    /** A line of more points than this is drawn without marks. */
    private static final int MARKED = 40;

    /** An upright line with a word. */
    public record Rule(double at, String text) {}

    public Chart {
        series = List.copyOf(series);
        rules = List.copyOf(rules);
    }

    /** Without lines yet. */
    public static Chart of(String title, Axis x, Axis y) {
        return new Chart(title, x, y, List.of(), List.of());
    }

    /** With one more line, in the next style. */
    public Chart with(Line line) {
        List<Series> more = new ArrayList<>(series);
        more.add(new Series(line.name(), series.size(), path(line), area(line), marks(line)));
        return new Chart(title, x, y, more, rules);
    }

    /** With an upright line. */
    public Chart ruled(double at, String text) {
        List<Rule> more = new ArrayList<>(rules);
        more.add(new Rule(across(at), text));
        return new Chart(title, x, y, series, more);
    }

    /** Where a label of the horizontal axis lies. */
    public double across(Scale.Tick tick) {
        return round(tick.at() * WIDTH);
    }

    /** Where a label of the upright axis lies, from the top. */
    public double down(Scale.Tick tick) {
        return round((1 - tick.at()) * HEIGHT);
    }

    private double across(double value) {
        return round(x.scale().at(value) * WIDTH);
    }

    private double down(double value) {
        return round((1 - y.scale().at(value)) * HEIGHT);
    }

    static double round(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private String path(Line line) {
        StringBuilder path = new StringBuilder();
        boolean pen = false;
        for (int i = 0; i < line.x().size(); i++) {
            boolean drawn = Double.isFinite(line.y().get(i));
            if (drawn) {
                path.append(pen ? "L" : "M")
                        .append(across(line.x().get(i)))
                        .append(' ')
                        .append(down(line.y().get(i)));
            }
            pen = drawn;
        }
        return path.toString();
    }

    /** Along the upper edges and back along the lower ones. */
    private String area(Line line) {
        if (line.band().isEmpty()) {
            return "";
        }
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < line.x().size(); i++) {
            path.append(i == 0 ? "M" : "L")
                    .append(across(line.x().get(i)))
                    .append(' ')
                    .append(down(line.band().get(i).high()));
        }
        for (int i = line.x().size() - 1; i >= 0; i--) {
            path.append('L')
                    .append(across(line.x().get(i)))
                    .append(' ')
                    .append(down(line.band().get(i).low()));
        }
        return path.append('Z').toString();
    }

    private List<Series.Mark> marks(Line line) {
        List<Series.Mark> marks = new ArrayList<>();
        for (int i = 0; i < line.x().size() && line.x().size() <= MARKED; i++) {
            double value = line.y().get(i);
            if (Double.isFinite(value)) {
                String text = String.format(
                        Locale.ROOT,
                        "%s, %s %.4g: %.4g",
                        line.name(),
                        x.title(),
                        line.x().get(i),
                        value);
                marks.add(new Series.Mark(across(line.x().get(i)), down(value), text));
            }
        }
        return marks;
    }
}
