package org.gramian.report;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** The points of a line over epochs, those left out at which there is no finite value. */
final class CurveLine {
    private final double[] x;
    private final double[] y;

    private CurveLine(double[] x, double[] y) {
        this.x = x;
        this.y = y;
    }

    /** A value of every epoch, counted through all stages; NaN where an epoch has none. */
    static CurveLine of(List<CurvePoint> points, ToDoubleFunction<CurvePoint> value) {
        double[] values = points.stream().mapToDouble(value).toArray();
        int[] present = IntStream.range(0, values.length)
                .filter(i -> Double.isFinite(values[i]))
                .toArray();
        return new CurveLine(
                IntStream.of(present).mapToDouble(i -> i + 1).toArray(),
                IntStream.of(present).mapToDouble(i -> values[i]).toArray());
    }

    /** A value that holds for a whole epoch, from half before its number to half after. */
    static CurveLine ofSteps(List<CurvePoint> points, ToDoubleFunction<CurvePoint> value) {
        CurveLine centred = of(points, value);
        if (centred.isEmpty()) {
            return centred;
        }
        int last = centred.size() - 1;
        double[] x =
                Arrays.copyOf(DoubleStream.of(centred.x).map(at -> at - 0.5).toArray(), last + 2);
        double[] y = Arrays.copyOf(centred.y, last + 2);
        x[last + 1] = centred.x[last] + 0.5;
        y[last + 1] = y[last];
        return new CurveLine(x, y);
    }

    double[] x() {
        return x.clone();
    }

    double[] y() {
        return y.clone();
    }

    double highest() {
        return DoubleStream.of(y).max().orElse(Double.NEGATIVE_INFINITY);
    }

    double lowest() {
        return DoubleStream.of(y).min().orElse(Double.POSITIVE_INFINITY);
    }

    int size() {
        return x.length;
    }

    boolean isEmpty() {
        return x.length == 0;
    }
}
