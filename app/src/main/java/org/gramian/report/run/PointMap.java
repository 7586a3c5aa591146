package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.report.chart.Marker;

/**
 * Scatter plot in a square, both axes with the same scale.
 *
 * @param title method of the embedding
 * @param dots points, errors last, so that none is hidden
 */
public record PointMap(String title, List<Dot> dots) {
    /** Side of the square. */
    public static final int SIDE = 400;

    /**
     * Image of a point.
     *
     * @param kind index of the class
     * @param text name and prediction
     * @param image number on the {@link ImageSheet}; -1 without one
     * @param wrong whether the prediction is wrong
     */
    record Subject(int kind, String text, int image, boolean wrong) {}

    /** Point in SVG coordinates. */
    public record Dot(double x, double y, int kind, Marker marker, String text, int image, boolean wrong) {
        /** Returns the CSS classes. */
        public String style() {
            return "k" + marker.colour() + (wrong ? " wrong" : "");
        }
    }

    static PointMap of(String title, double[][] points, List<Subject> subjects) {
        double[] low = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
        double[] high = {Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY};
        for (double[] point : points) {
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = Math.min(low[axis], point[axis]);
                high[axis] = Math.max(high[axis], point[axis]);
            }
        }
        double span = Math.max(1e-300, Math.max(high[0] - low[0], high[1] - low[1]));
        List<Dot> dots = new ArrayList<>();
        for (boolean wrong : new boolean[] {false, true}) {
            for (int i = 0; i < points.length; i++) {
                Subject subject = subjects.get(i);
                if (subject.wrong == wrong) {
                    dots.add(new Dot(
                            place(points[i][0], low[0], high[0], span),
                            place(-points[i][1], -high[1], -low[1], span),
                            subject.kind,
                            Marker.of(subject.kind),
                            subject.text,
                            subject.image,
                            wrong));
                }
            }
        }
        return new PointMap(title, dots);
    }

    /** Centres the shorter axis. */
    private static double place(double value, double low, double high, double span) {
        double share = (value - low) / span + (1 - (high - low) / span) / 2;
        return Math.round((0.02 + 0.96 * share) * SIDE * 10) / 10.0;
    }
}
