package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.Calibration;
import org.gramian.report.Figures;

/** Reliability diagram: accuracy by bin of confidence. Bars below the diagonal show overconfidence. */
public record ReliabilityView(String title, String error, List<Bar> bars) {
    public static final int SIDE = 260;

    /** Bin of confidence in SVG coordinates. */
    public record Bar(double x, double width, double top, double aim, String text) {
        /** Returns the upper edge of the gap between accuracy and confidence, from the top. */
        public double gapTop() {
            return Math.min(top, aim);
        }

        public double gap() {
            return round(Math.abs(top - aim));
        }
    }

    /** Pools the bins of all folds; the error is the mean over folds. */
    static ReliabilityView of(String title, List<Calibration> folds) {
        List<Bar> bars = new ArrayList<>();
        for (int b = 0; b < Calibration.BINS; b++) {
            int bin = b;
            List<Calibration.Bin> same =
                    folds.stream().map(fold -> fold.bins().get(bin)).toList();
            int count = same.stream().mapToInt(Calibration.Bin::count).sum();
            if (count > 0) {
                bars.add(bar(same, count));
            }
        }
        double error = folds.stream().mapToDouble(Calibration::error).average().orElseThrow();
        return new ReliabilityView(title, Figures.percent(error), bars);
    }

    private static Bar bar(List<Calibration.Bin> same, int count) {
        Calibration.Bin first = same.getFirst();
        double right =
                same.stream().mapToDouble(bin -> bin.accuracy() * bin.count()).sum() / count;
        double sure =
                same.stream().mapToDouble(bin -> bin.confidence() * bin.count()).sum() / count;
        return new Bar(
                round(first.low() * SIDE),
                round((first.high() - first.low()) * SIDE - 1),
                round(SIDE - round(right * SIDE)),
                round(SIDE - round(sure * SIDE)),
                Figures.count(count, "prediction") + ", mean confidence " + Figures.percent(sure) + " %, accuracy "
                        + Figures.percent(right) + " %");
    }

    private static double round(double value) {
        return Math.round(value * 10) / 10.0;
    }
}
