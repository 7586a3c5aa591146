package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.ClassScore;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.Proportion;
import org.gramian.report.run.material.FoldMaterial;
import org.gramian.report.run.material.Missing;
import org.gramian.report.run.material.RunMaterial;

/**
 * A run in a sentence and a table.
 *
 * @param verdict the sentence
 * @param remarks what to bear in mind with it
 * @param tiles the figures to see first
 * @param folds their names, the columns of the table
 * @param rows a metric each
 */
public record SummaryView(
        String verdict, List<String> remarks, List<LabelledValue> tiles, List<String> folds, List<Row> rows) {
    /** An interval wider than this, in points, hides what most comparisons look for. */
    private static final double WIDE = 0.1;

    /**
     * One metric.
     *
     * @param name with its unit
     * @param all over all folds, mean ± standard deviation
     * @param each one fold
     */
    public record Row(String name, String all, List<String> each) {}

    static SummaryView of(RunMaterial run, Outcomes outcomes) {
        List<Evaluation> evaluations =
                run.folds().stream().map(FoldMaterial::evaluation).toList();
        FoldSummary summary = FoldSummary.of(evaluations);
        return new SummaryView(
                verdict(evaluations, summary, outcomes),
                remarks(run, evaluations),
                tiles(run, evaluations, summary),
                evaluations.stream().map(fold -> fold.setting().fold()).toList(),
                rows(evaluations, summary));
    }

    private static String verdict(List<Evaluation> evaluations, FoldSummary summary, Outcomes outcomes) {
        String begin = evaluations.size() == 1
                ? "Test accuracy " + Figures.withInterval(evaluations.getFirst().accuracy()) + ", "
                        + Figures.count(evaluations.getFirst().accuracy().right()) + " of "
                        + Figures.count(evaluations.getFirst().accuracy().count(), "image") + " correct"
                : "Test accuracy " + summary.text(Metric.ACCURACY) + " % over "
                        + Figures.count(evaluations.size(), "fold") + " (mean ± standard deviation)";
        return begin + "; majority-class baseline " + Figures.percent(commonest(outcomes)) + " %. "
                + confused(outcomes.confusion());
    }

    /** The share of the class with most test images: what needs no images to reach. */
    private static double commonest(Outcomes outcomes) {
        int most = outcomes.confusion().perClass().stream()
                .mapToInt(ClassScore::support)
                .max()
                .orElse(0);
        return (double) most / outcomes.answers().size();
    }

    private static String confused(ConfusionMatrix matrix) {
        return matrix.confusions().stream()
                .findFirst()
                .map(worst -> "Most frequent confusion: " + worst.truth() + " predicted as " + worst.predicted() + " ("
                        + worst.count() + ").")
                .orElse("All test images are classified correctly.");
    }

    private static List<String> remarks(RunMaterial run, List<Evaluation> evaluations) {
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

    private static Optional<String> afterFirst(RunMaterial run, List<Evaluation> evaluations) {
        List<Evaluation> first =
                run.folds().stream().flatMap(fold -> fold.afterFirst().stream()).toList();
        return first.size() < run.folds().size()
                ? Optional.empty()
                : Optional.of("With the backbone frozen (stage 1) the accuracy was "
                        + FoldSummary.of(first).text(Metric.ACCURACY) + " %. " + second(evaluations, first));
    }

    /** What stage 2 did, for better or worse, on the same images. */
    private static String second(List<Evaluation> evaluations, List<Evaluation> first) {
        try {
            Comparison comparison = Comparison.of(evaluations, first);
            return "Fine-tuning (stage 2) changed it by " + comparison.test().text()
                    + (comparison.repeated() > 0 ? "; p is too small because folds share test images." : ".");
        } catch (IllegalArgumentException refused) {
            return "The effect of fine-tuning (stage 2) is unknown: " + refused.getMessage() + ".";
        }
    }

    private static List<LabelledValue> tiles(RunMaterial run, List<Evaluation> evaluations, FoldSummary summary) {
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
