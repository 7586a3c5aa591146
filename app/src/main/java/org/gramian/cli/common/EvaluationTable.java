package org.gramian.cli.common;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Proportion;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.PredictionTable;
import org.gramian.report.Figures;

/** Formats one evaluation for a terminal: metrics, classes with the confusion matrix, and the most confident errors. */
public record EvaluationTable(Evaluation evaluation) {
    /** So many classes fit a screen, in both directions; of more the hardest are shown, and what is confused most. */
    static final int CLASSES = 20;

    private static final int MISTAKES = 5;
    private static final int PAIRS = 10;
    private static final int NAME = 24;

    /** More folds are not shown one by one. */
    private static final int FOLDS = 6;

    /** Formats the metrics of several folds: mean, standard deviation and, of few folds, those of each fold. */
    public static String ofFolds(List<Evaluation> folds) {
        FoldSummary summary = FoldSummary.of(folds);
        List<Evaluation> shown = folds.size() <= FOLDS ? folds : List.of();
        List<String> head = new ArrayList<>(List.of("over " + folds.size() + " folds", "mean ± std"));
        shown.forEach(fold -> head.add(fold.setting().fold()));
        Columns rows = new Columns().row(head);
        for (Metric metric : metrics(folds.getFirst().classes().size())) {
            List<String> cells = new ArrayList<>(List.of(name(metric), summary.text(metric)));
            shown.forEach(fold -> cells.add(metric.show(metric.of(fold))));
            rows.row(cells);
        }
        return rows.toString();
    }

    /** Returns the metrics that differ for a number of classes: the first five are all of five. */
    public static List<Metric> metrics(int classes) {
        return Arrays.stream(Metric.values())
                .filter(metric -> metric != Metric.TOP_5 || classes > 5)
                .toList();
    }

    /** Returns the name of a metric with its unit. */
    public static String name(Metric metric) {
        return metric.text() + (metric == Metric.LOG_LOSS || metric == Metric.BRIER ? "" : " %");
    }

    public String text() {
        StringBuilder text = new StringBuilder();
        numbers(text);
        text.append(System.lineSeparator());
        if (evaluation.classes().size() <= CLASSES) {
            matrix(text);
        } else {
            hardest(text);
            text.append(System.lineSeparator());
            pairs(text);
        }
        mistakes(text);
        return text.toString();
    }

    private void numbers(StringBuilder text) {
        text.append("%d images in %d classes, %s%n%n"
                .formatted(
                        evaluation.predictions().size(),
                        evaluation.confusion().perClass().stream()
                                .filter(score -> score.support() > 0)
                                .count(),
                        QuotedText.visible(evaluation.setting().toString())));
        for (Metric metric : Metric.values()) {
            if (metric == Metric.TOP_5 && evaluation.classes().size() <= 5) {
                continue; // always 100 %
            }
            String shown = metric.show(metric.of(evaluation));
            text.append(String.format(Locale.ROOT, "%-18s %6s%s%n", metric.text(), shown, remark(metric)));
        }
    }

    private String remark(Metric metric) {
        Proportion accuracy = evaluation.accuracy();
        return switch (metric) {
            case ACCURACY ->
                " %, 95 % CI " + Figures.percent(accuracy.interval().low()) + "–"
                        + Figures.percent(accuracy.interval().high()) + "; " + accuracy.right() + " of "
                        + accuracy.count() + " images";
            case TOP_5 -> " %";
            case BALANCED_ACCURACY -> " %, the mean recall of the classes";
            case MACRO_F1 -> " %, the mean F1 of the classes";
            case LOG_LOSS, BRIER -> "";
            case CALIBRATION_ERROR -> " %" + calibration();
        };
    }

    /** What the temperature changed, if there is one. */
    private String calibration() {
        Temperature temperature = evaluation.temperature();
        String source = temperature.isCalibrated() ? ", calibrated by " + temperature.source() : ", not calibrated";
        if (temperature.value() == 1) {
            return source;
        }
        double before = evaluation.calibrated(Temperature.NONE).calibration().error();
        return source + String.format(Locale.ROOT, "; temperature %.3f, ", temperature.value())
                + Metric.CALIBRATION_ERROR.show(before) + " without it";
    }

    private void matrix(StringBuilder text) {
        ConfusionMatrix confusion = evaluation.confusion();
        List<ConfusionMatrix.ClassScore> scores = confusion.perClass();
        List<Integer> all = IntStream.range(0, scores.size()).boxed().toList();
        Columns rows = new Columns();
        rows.row(row(List.of("class", "images", "precision", "recall", "F1", ""), all, EvaluationTable::letter));
        for (int truth : all) {
            rows.row(row(cells(letter(truth) + " ", scores.get(truth)), all, k -> count(confusion.count(truth, k))));
        }
        text.append("confusion matrix: %s%n".formatted(ConfusionMatrix.ORIENTATION));
        text.append(rows);
    }

    private static List<String> row(List<String> head, List<Integer> classes, Function<Integer, String> cell) {
        List<String> cells = new ArrayList<>(head);
        classes.forEach(k -> cells.add(cell.apply(k)));
        return cells;
    }

    private static String letter(int index) {
        return Character.toString('a' + index);
    }

    /** Of many counts most are 0, which would hide the others. */
    private static String count(int value) {
        return value == 0 ? "." : Integer.toString(value);
    }

    private static List<String> cells(String mark, ConfusionMatrix.ClassScore score) {
        String name = score.name().length() > NAME ? score.name().substring(0, NAME - 1) + "…" : score.name();
        return List.of(
                mark + name,
                Integer.toString(score.support()),
                score.predicted() == 0 ? "-" : Figures.percent(score.precision()),
                score.support() == 0 ? "-" : Figures.percent(score.recall()),
                score.support() == 0 ? "-" : Figures.percent(score.f1()),
                "");
    }

    private void hardest(StringBuilder text) {
        List<ConfusionMatrix.ClassScore> tested = evaluation.confusion().perClass().stream()
                .filter(score -> score.support() > 0)
                .sorted(Comparator.comparingDouble(ConfusionMatrix.ClassScore::f1))
                .toList();
        List<ConfusionMatrix.ClassScore> shown = tested.subList(0, Math.min(CLASSES, tested.size()));
        text.append("the %d classes with the lowest F1, of %d%n".formatted(shown.size(), tested.size()));
        Columns rows = new Columns();
        rows.row("class", "images", "precision", "recall", "F1");
        shown.forEach(score -> rows.row(cells("", score)));
        text.append(rows);
    }

    private void pairs(StringBuilder text) {
        List<ConfusionMatrix.Confusion> confusions = evaluation.confusion().confusions();
        if (confusions.isEmpty()) {
            return;
        }
        text.append("most frequent confusions, of %d pairs%n".formatted(confusions.size()));
        for (ConfusionMatrix.Confusion pair : confusions.subList(0, Math.min(PAIRS, confusions.size()))) {
            text.append("  %d× %s predicted as %s%n"
                    .formatted(pair.count(), QuotedText.bare(pair.truth()), QuotedText.bare(pair.predicted())));
        }
    }

    private void mistakes(StringBuilder text) {
        List<PredictionTable.Row> mistakes = PredictionTable.of(evaluation).mistakes();
        if (mistakes.isEmpty()) {
            text.append("%nno errors%n".formatted());
            return;
        }
        List<PredictionTable.Row> shown = mistakes.subList(0, Math.min(MISTAKES, mistakes.size()));
        text.append("%nmost confident errors, %d of %d%n".formatted(shown.size(), mistakes.size()));
        for (PredictionTable.Row row : shown) {
            String confused = QuotedText.bare(row.truth()) + " predicted as " + QuotedText.bare(row.prediction());
            text.append("  %s %%  %s: %s%n"
                    .formatted(Figures.percent(row.probability()), QuotedText.bare(row.name()), confused));
        }
    }
}
