package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.Proportion;
import org.gramian.report.Figures;
import org.gramian.report.Figures.LabelledValue;

/** Summary of a run: a sentence, caveats, key figures, and metrics over the folds. */
public record SummaryView(String verdict, List<String> remarks, List<LabelledValue> tiles, FoldSummary metrics) {
    /** Width of a confidence interval from which a remark is shown. */
    private static final double WIDE = 0.1;

    static SummaryView of(RunData run, ConfusionMatrix matrix) {
        FoldSummary metrics = FoldSummary.of(run.evaluations());
        return new SummaryView(verdict(run.evaluations(), metrics, matrix), remarks(run), tiles(run, metrics), metrics);
    }

    private static String verdict(List<Evaluation> folds, FoldSummary metrics, ConfusionMatrix matrix) {
        Proportion first = folds.getFirst().accuracy();
        String accuracy = folds.size() == 1
                ? Figures.withInterval(first) + ", " + Figures.count(first.right()) + " of "
                        + Figures.count(first.count(), "image") + " correct"
                : metrics.text(Metric.ACCURACY) + " % over " + Figures.count(folds.size(), "fold")
                        + " (mean ± standard deviation)";
        int most = matrix.perClass().stream()
                .mapToInt(ConfusionMatrix.ClassScore::support)
                .max()
                .orElse(0);
        int all = matrix.perClass().stream()
                .mapToInt(ConfusionMatrix.ClassScore::support)
                .sum();
        String confused = matrix.confusions().stream()
                .findFirst()
                .map(worst -> "Most frequent confusion: " + worst.truth() + " predicted as " + worst.predicted() + " ("
                        + worst.count() + ").")
                .orElse("All test images are classified correctly.");
        return "Test accuracy " + accuracy + "; majority-class baseline " + Figures.percent((double) most / all)
                + " %. " + confused;
    }

    private static List<String> remarks(RunData run) {
        List<Evaluation> folds = run.evaluations();
        List<String> remarks = new ArrayList<>();
        Proportion first = folds.getFirst().accuracy();
        if (folds.size() == 1 && first.interval().width() > WIDE) {
            remarks.add("With " + Figures.count(first.count(), "test image") + " the 95 % confidence interval is "
                    + Figures.percent(first.interval().width())
                    + " points wide: smaller differences between runs are not significant by themselves.");
        }
        if (folds.size() > 1) {
            remarks.add("The confusion matrix, class metrics, misclassified images and calibration below pool the test"
                    + " images of all folds.");
        }
        List<Evaluation> frozen =
                run.folds().stream().flatMap(fold -> fold.afterFirst().stream()).toList();
        if (frozen.size() == folds.size()) {
            remarks.add("With the backbone frozen (stage 1) the accuracy was "
                    + FoldSummary.of(frozen).text(Metric.ACCURACY) + " %. " + fineTuning(folds, frozen));
        }
        remarks.addAll(run.reasons(RunData.ReportPart.FOLD));
        return remarks;
    }

    /** Returns the effect of stage 2 on the same images. */
    private static String fineTuning(List<Evaluation> folds, List<Evaluation> frozen) {
        try {
            Comparison comparison = Comparison.of(folds, frozen);
            return "Fine-tuning (stage 2) changed it by " + comparison.test().text()
                    + (comparison.repeated() > 0 ? "; p is too small because folds share test images." : ".");
        } catch (IllegalArgumentException refused) {
            return "The effect of fine-tuning (stage 2) is unknown: " + refused.getMessage() + ".";
        }
    }

    private static List<LabelledValue> tiles(RunData run, FoldSummary metrics) {
        List<Evaluation> folds = run.evaluations();
        Proportion first = folds.getFirst().accuracy();
        int tested = folds.stream().mapToInt(fold -> fold.predictions().size()).sum();
        List<LabelledValue> tiles = new ArrayList<>();
        tiles.add(new LabelledValue("accuracy", metrics.text(Metric.ACCURACY) + " %"));
        if (folds.size() == 1) {
            tiles.add(new LabelledValue(
                    "95 % CI",
                    Figures.percent(first.interval().low()) + "–"
                            + Figures.percent(first.interval().high())));
        }
        tiles.add(new LabelledValue("macro F1", metrics.text(Metric.MACRO_F1) + " %"));
        tiles.add(new LabelledValue("calibration error", metrics.text(Metric.CALIBRATION_ERROR) + " %"));
        tiles.add(new LabelledValue("test images", Figures.count(tested)));
        tiles.add(new LabelledValue("classes", Figures.count(run.classes().size())));
        return tiles;
    }
}
