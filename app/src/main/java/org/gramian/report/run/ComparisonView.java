package org.gramian.report.run;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.evaluate.ConfusionMatrix.ClassScore;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.model.ModelHeader;
import org.gramian.report.Chart;
import org.gramian.report.Figures;

/** Comparison of several runs with the first. */
public record ComparisonView(
        List<Row> rows, List<Difference> differences, Optional<Chart> curves, List<ClassRow> classes) {
    public record Row(String name, String pooling, String accuracy, FoldSummary metrics, String parameters) {
        static Row of(RunData run) {
            List<Evaluation> folds = run.evaluations();
            FoldSummary metrics = FoldSummary.of(folds);
            Optional<ModelHeader> header = run.model().map(RunData.ModelData::header);
            return new Row(
                    run.name(),
                    header.map(model -> model.backbone().name() + " "
                                    + model.backbone().layer() + ", "
                                    + run.folds().getFirst().poolings().stream()
                                            .findFirst()
                                            .map(selected -> selected.name())
                                            .orElse(model.head().pooling().text()))
                            .orElse("unknown"),
                    folds.size() == 1 ? folds.getFirst().accuracy().text() : metrics.text(Metric.ACCURACY),
                    metrics,
                    header.map(model -> Figures.count(model.count(""))).orElse("unknown"));
        }
    }

    /** Paired difference of a run from the first. */
    public record Difference(String name, String text, String judgement, List<OnlyRight> images) {
        static Difference of(RunData run, RunData first, ImageSheet sheet) {
            try {
                // In the order of the page, so that 'the first' in an error message is the first of the page.
                Comparison comparison = Comparison.of(first.evaluations(), run.evaluations());
                PairedTest test = comparison.test().reversed();
                String judgement = test.differenceInterval().contains(0)
                        ? "not significant"
                        : "significantly " + (test.difference() > 0 ? "better" : "worse") + " than " + first.name();
                String repeated = comparison.repeated() > 0 ? "; p is too small because folds share test images" : "";
                List<OnlyRight> images = Stream.of(OnlyRight.of(run, first, sheet), OnlyRight.of(first, run, sheet))
                        .filter(one -> one.count() > 0)
                        .toList();
                return new Difference(run.name(), test.text(), judgement + repeated, images);
            } catch (IllegalArgumentException refused) {
                return new Difference(run.name(), "not comparable", String.valueOf(refused.getMessage()), List.of());
            }
        }
    }

    /** Test images that one run classifies correctly and the other does not. */
    public record OnlyRight(String name, int count, List<PredictionSet.TestPrediction> shown) {
        private static final int MOST = 14;

        static OnlyRight of(RunData right, RunData wrong, ImageSheet sheet) {
            Set<String> correct = PredictionSet.of(right).predictions().stream()
                    .filter(PredictionSet.TestPrediction::right)
                    .map(PredictionSet.TestPrediction::name)
                    .collect(Collectors.toSet());
            PredictionSet predictions = PredictionSet.of(wrong);
            List<PredictionSet.TestPrediction> lost = predictions.mistakes().stream()
                    .filter(one -> correct.contains(one.name()))
                    .toList();
            return new OnlyRight(
                    right.name(),
                    lost.size(),
                    lost.stream()
                            .limit(MOST)
                            .map(one -> predictions.shown(one, sheet))
                            .toList());
        }
    }

    /** Recall of a class in each run in percent, and its change from the first run to the last in points. */
    public record ClassRow(String name, List<String> recalls, double change) {
        /** Returns the change as {@code +3.5}. */
        public String changed() {
            return change == 0 ? "0.0" : String.format(Locale.ROOT, "%+.1f", change);
        }

        public String style() {
            return change > 0 ? "plus" : change < 0 ? "minus" : "soft";
        }
    }

    public static final List<Metric> OTHERS = List.of(Metric.MACRO_F1, Metric.LOG_LOSS, Metric.CALIBRATION_ERROR);

    static ComparisonView of(List<RunData> runs, ImageSheet sheet) {
        return new ComparisonView(
                runs.stream().map(Row::of).toList(),
                runs.stream()
                        .skip(1)
                        .map(run -> Difference.of(run, runs.getFirst(), sheet))
                        .toList(),
                LearningView.comparison(
                        runs.stream().map(RunData::name).toList(),
                        runs.stream()
                                .map(run -> run.folds().getFirst().epochs())
                                .toList()),
                classes(runs));
    }

    /** Returns the classes, largest change first. */
    private static List<ClassRow> classes(List<RunData> runs) {
        List<String> classes = runs.getFirst().classes();
        if (runs.stream().anyMatch(run -> !run.classes().equals(classes))) {
            return List.of();
        }
        List<List<Double>> recalls = runs.stream()
                .map(run -> PredictionSet.of(run).confusion().perClass().stream()
                        .map(ClassScore::recall)
                        .toList())
                .toList();
        return IntStream.range(0, classes.size())
                .mapToObj(k -> new ClassRow(
                        classes.get(k),
                        recalls.stream().map(run -> Figures.percent(run.get(k))).toList(),
                        100 * (recalls.getLast().get(k) - recalls.getFirst().get(k))))
                .sorted(Comparator.comparingDouble((ClassRow row) -> -Math.abs(row.change())))
                .toList();
    }
}
