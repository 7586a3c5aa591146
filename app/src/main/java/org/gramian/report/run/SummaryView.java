package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.Proportion;
import org.gramian.report.run.Figures.LabelledValue;
import org.gramian.report.run.data.FoldData;
import org.gramian.report.run.data.RunData;
import org.gramian.report.run.data.RunData.Missing;

/**
 * Summary of a run.
 *
 * @param verdict one sentence
 * @param remarks caveats
 * @param tiles key figures
 * @param folds names of the folds, columns of the table
 * @param rows one for each metric
 */
public record SummaryView(
        String verdict, List<String> remarks, List<LabelledValue> tiles, List<String> folds, List<Row> rows) {
    /** Width of a confidence interval from which a remark is shown. */
    private static final double WIDE = 0.1;

    /**
     * Metric.
     *
     * @param name with its unit
     * @param all mean ± standard deviation over folds
     * @param each value of each fold
     */
    public record Row(String name, String all, List<String> each) {}

    static SummaryView of(RunData run, PredictionSet predictions) {
        List<Evaluation> evaluations =
                run.folds().stream().map(FoldData::evaluation).toList();
        FoldSummary summary = FoldSummary.of(evaluations);
        return new SummaryView(
                verdict(evaluations, summary, predictions),
                remarks(run, evaluations),
                tiles(run, evaluations, summary),
                evaluations.stream().map(fold -> fold.setting().fold()).toList(),
                rows(evaluations, summary));
    }

    private static String verdict(List<Evaluation> evaluations, FoldSummary summary, PredictionSet predictions) {
        String begin = evaluations.size() == 1
                ? "Test accuracy " + Figures.withInterval(evaluations.getFirst().accuracy()) + ", "
                        + Figures.count(evaluations.getFirst().accuracy().right()) + " of "
                        + Figures.count(evaluations.getFirst().accuracy().count(), "image") + " correct"
                : "Test accuracy " + summary.text(Metric.ACCURACY) + " % over "
                        + Figures.count(evaluations.size(), "fold") + " (mean ± standard deviation)";
        return begin + "; majority-class baseline " + Figures.percent(majority(predictions)) + " %. "
                + confused(predictions.confusion());
    }

    /** Returns the accuracy of always predicting the most frequent class. */
    private static double majority(PredictionSet predictions) {
        int most = predictions.confusion().perClass().stream()
                .mapToInt(ClassScore::support)
                .max()
                .orElse(0);
        return (double) most / predictions.predictions().size();
    }

    private static String confused(ConfusionMatrix matrix) {
        return matrix.confusions().stream()
                .findFirst()
                .map(worst -> "Most frequent confusion: " + worst.truth() + " predicted as " + worst.predicted() + " ("
                        + worst.count() + ").")
                .orElse("All test images are classified correctly.");
    }

    private static List<String> remarks(RunData run, List<Evaluation> evaluations) {
        List<String> remarks = new ArrayList<>();
        Proportion first = evaluations.getFirst().accuracy();
        if (evaluations.size() == 1 && first.interval().width() > WIDE) {
            remarks.add("With " + Figures.count(first.count(), "test image") + " the 95 % confidence interval is "
                    + Figures.percent(first.interval().width())
                    + " points wide: smaller differences between runs are not significant by themselves.");
        }
        if (evaluations.size() > 1) {
            remarks.add("The confusion matrix, class metrics, misclassified images and calibration below pool the test"
                    + " images of all folds.");
        }
        afterFirst(run, evaluations).ifPresent(remarks::add);
        remarks.addAll(run.reasons(Missing.Part.FOLD));
        return remarks;
    }

    private static Optional<String> afterFirst(RunData run, List<Evaluation> evaluations) {
        List<Evaluation> first =
                run.folds().stream().flatMap(fold -> fold.afterFirst().stream()).toList();
        return first.size() < run.folds().size()
                ? Optional.empty()
                : Optional.of("With the backbone frozen (stage 1) the accuracy was "
                        + FoldSummary.of(first).text(Metric.ACCURACY) + " %. " + second(evaluations, first));
    }

    /** Returns the effect of stage 2 on the same images. */
    private static String second(List<Evaluation> evaluations, List<Evaluation> first) {
        try {
            Comparison comparison = Comparison.of(evaluations, first);
            return "Fine-tuning (stage 2) changed it by " + comparison.test().text()
                    + (comparison.repeated() > 0 ? "; p is too small because folds share test images." : ".");
        } catch (IllegalArgumentException refused) {
            return "The effect of fine-tuning (stage 2) is unknown: " + refused.getMessage() + ".";
        }
    }

    private static List<LabelledValue> tiles(RunData run, List<Evaluation> evaluations, FoldSummary summary) {
        int tested =
                evaluations.stream().mapToInt(fold -> fold.predictions().size()).sum();
        List<LabelledValue> tiles = new ArrayList<>();
        tiles.add(new LabelledValue("accuracy", summary.text(Metric.ACCURACY) + " %"));
        if (evaluations.size() == 1) {
            Proportion accuracy = evaluations.getFirst().accuracy();
            tiles.add(new LabelledValue(
                    "95 % CI",
                    Figures.percent(accuracy.interval().low()) + "–"
                            + Figures.percent(accuracy.interval().high())));
        }
        tiles.add(new LabelledValue("macro F1", summary.text(Metric.MACRO_F1) + " %"));
        tiles.add(new LabelledValue("calibration error", summary.text(Metric.CALIBRATION_ERROR) + " %"));
        tiles.add(new LabelledValue("test images", Figures.count(tested)));
        tiles.add(new LabelledValue("classes", Figures.count(run.classes().size())));
        return tiles;
    }

    private static List<Row> rows(List<Evaluation> evaluations, FoldSummary summary) {
        List<Row> rows = new ArrayList<>();
        for (Metric metric : Metric.values()) {
            boolean percent = metric.show(1).equals("100.0");
            rows.add(new Row(
                    metric.text() + (percent ? ", %" : ""),
                    summary.text(metric),
                    evaluations.stream()
                            .map(fold ->
                                    metric == Metric.ACCURACY ? fold.accuracy().text() : metric.show(metric.of(fold)))
                            .toList()));
        }
        return rows;
    }
}
