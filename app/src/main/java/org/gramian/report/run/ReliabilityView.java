package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.Calibration;

/**
 * A reliability diagram: for each bin of confidence, how many of its answers were right. Bars that reach the diagonal are
 * probabilities to believe; below it the model is too sure of itself.
 *
 * @param title which probabilities
 * @param error the expected calibration error, in percent
 * @param bars a bar for each bin with images
 */
public record ReliabilityView(String title, String error, List<Bar> bars) {
    /** The square's side. */
    public static final int SIDE = 260;

    /**
     * One bin.
     *
     * @param x from the left
     * @param width of the bar
     * @param height of the bar: which part was right
     * @param expected where it should end: the mean confidence
     * @param text for people
     */
    public record Bar(double x, double width, double height, double expected, String text) {
        /** The bar's upper edge, from the top. */
        public double top() {
            return round(SIDE - height);
        }

        /** Where it should end, from the top. */
        public double aim() {
            return round(SIDE - expected);
        }

        /** The upper end of what lies between both, from the top. */
        public double gapTop() {
            return Math.min(top(), aim());
        }

        /** How far the bar is from where it should end. */
        public double gap() {
            return round(Math.abs(height - expected));
        }
    }

    /** The folds taken together: bins of the same bounds are added up; the error is the mean over folds. */
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
                round(right * SIDE),
                round(sure * SIDE),
                Figures.count(count, "prediction") + ", mean confidence " + Figures.percent(sure) + " %, accuracy "
                        + Figures.percent(right) + " %");
    }

    private static double round(double value) {
        return Math.round(value * 10) / 10.0;
    }
}
