package org.gramian.report.run;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.model.ModelHeader;
import org.gramian.report.TrainingCurves;
import org.gramian.report.chart.Chart;
import org.gramian.report.run.data.FoldData;
import org.gramian.report.run.data.RunData;

/**
 * Comparison of several runs with the first.
 *
 * @param names of the runs
 * @param rows metrics of each run
 * @param differences of each further run from the first
 * @param curves accuracies by epoch; empty if no run has a history
 * @param classes recall of every class; empty if the classes differ
 */
public record ComparisonView(
        List<String> names,
        List<Row> rows,
        List<Difference> differences,
        Optional<Chart> curves,
        List<ClassRow> classes) {
    /**
     * Metrics of a run.
     *
     * @param name of the run
     * @param pooling backbone and pooling
     * @param accuracy with its confidence interval, or mean and standard deviation over folds
     * @param metrics values of {@link #OTHERS}
     * @param parameters number of parameters
     */
    public record Row(String name, String pooling, String accuracy, List<String> metrics, String parameters) {}

    /**
     * Paired difference of a run from the first.
     *
     * @param name of the run
     * @param text difference with its confidence interval
     * @param judgement conclusion, or the reason why the runs are not comparable
     */
    public record Difference(String name, String text, String judgement) {}

    /**
     * Recall of a class.
     *
     * @param name of the class
     * @param recalls of each run in percent
     * @param change from the first run to the last in points
     */
    public record ClassRow(String name, List<String> recalls, double change) {
        /** Returns the change as {@code +3.5}. */
        public String changed() {
            return change == 0 ? "0.0" : String.format(Locale.ROOT, "%+.1f", change);
        }

        /** Returns the CSS class of the change. */
        public String style() {
            return change > 0 ? "plus" : change < 0 ? "minus" : "soft";
        }
    }

    /** Metrics besides the accuracy. */
    public static final List<Metric> OTHERS = List.of(Metric.MACRO_F1, Metric.LOG_LOSS, Metric.CALIBRATION_ERROR);

    static ComparisonView of(List<RunData> runs) {
        return new ComparisonView(
                runs.stream().map(RunData::name).toList(),
                runs.stream().map(ComparisonView::row).toList(),
                runs.stream()
                        .skip(1)
                        .map(run -> difference(run, runs.getFirst()))
                        .toList(),
                curves(runs),
                classes(runs));
    }

    private static List<Evaluation> evaluations(RunData run) {
        return run.folds().stream().map(FoldData::evaluation).toList();
    }

    private static Row row(RunData run) {
        List<Evaluation> folds = evaluations(run);
        FoldSummary summary = FoldSummary.of(folds);
        Optional<ModelHeader> header = run.folds().stream()
                .flatMap(fold -> fold.model().stream())
                .map(model -> model.header())
                .findFirst();
        return new Row(
                run.name(),
                header.map(model -> model.backbone().name() + " "
                                + model.backbone().layer() + ", "
                                + model.head().pooling().text())
                        .orElse("unknown"),
                folds.size() == 1 ? folds.getFirst().accuracy().text() : summary.text(Metric.ACCURACY),
                OTHERS.stream().map(summary::text).toList(),
                header.map(model -> Figures.count(model.count(""))).orElse("unknown"));
    }

    private static Difference difference(RunData run, RunData first) {
        try {
            // In the order of the page, so that 'the first' in an error message is the first of the page.
            Comparison comparison = Comparison.of(evaluations(first), evaluations(run));
            PairedTest test = comparison.test().reversed();
            String text = judgement(test, first.name());
            return new Difference(
                    run.name(),
                    test.text(),
                    comparison.repeated() > 0 ? text + "; p is too small because folds share test images" : text);
        } catch (IllegalArgumentException refused) {
            return new Difference(run.name(), "not comparable", String.valueOf(refused.getMessage()));
        }
    }

    private static String judgement(PairedTest test, String first) {
        return test.differenceInterval().contains(0)
                ? "not significant"
                : (test.difference() > 0 ? "significantly better than " : "significantly worse than ") + first;
    }

    /** Compares the first folds of the runs that have a history. */
    private static Optional<Chart> curves(List<RunData> runs) {
        List<TrainingCurves.Run> histories = runs.stream()
                .filter(run -> !run.folds().getFirst().epochs().isEmpty())
                .map(run -> new TrainingCurves.Run(
                        run.name(), run.folds().getFirst().epochs()))
                .toList();
        return histories.isEmpty() ? Optional.empty() : Optional.of(TrainingCurves.comparison(histories));
    }

    /** Returns the classes, largest change first. */
    private static List<ClassRow> classes(List<RunData> runs) {
        if (runs.stream().anyMatch(run -> !run.classes().equals(runs.getFirst().classes()))) {
            return List.of();
        }
        List<List<ClassScore>> scores = runs.stream()
                .map(run -> PredictionSet.of(run).confusion().perClass())
                .toList();
        return IntStream.range(0, runs.getFirst().classes().size())
                .mapToObj(k -> new ClassRow(
                        runs.getFirst().classes().get(k),
                        scores.stream()
                                .map(run -> Figures.percent(run.get(k).recall()))
                                .toList(),
                        100
                                * (scores.getLast().get(k).recall()
                                        - scores.getFirst().get(k).recall())))
                .sorted(Comparator.comparingDouble((ClassRow row) -> -Math.abs(row.change())))
                .toList();
    }
}
