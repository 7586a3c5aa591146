package org.gramian.report.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.evaluate.ClassScore;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.model.ModelHeader;
import org.gramian.report.chart.Axis;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Line;
import org.gramian.report.chart.Scale;
import org.gramian.report.run.material.FoldMaterial;
import org.gramian.report.run.material.RunMaterial;
import org.gramian.train.loop.TrainEvent.EpochDone;

/**
 * Several runs held against the first.
 *
 * @param names of the runs
 * @param rows figures of each
 * @param differences of each further run to the first
 * @param curves accuracies by epoch of all, where any has some
 * @param classes recall of every class; none where the runs have other classes
 */
public record ComparisonView(
        List<String> names,
        List<Row> rows,
        List<Difference> differences,
        Optional<Chart> curves,
        List<ClassRow> classes) {
    /**
     * A run's figures.
     *
     * @param name of the run
     * @param pooling what its model is made of
     * @param accuracy with its interval, or mean and deviation over folds
     * @param metrics the others
     * @param parameters numbers in the model
     */
    public record Row(String name, String pooling, String accuracy, List<String> metrics, String parameters) {}

    /**
     * A run less the first.
     *
     * @param name of the run
     * @param text the difference with its interval, or why there is none
     * @param judgement what that means, in words
     */
    public record Difference(String name, String text, String judgement) {}

    /**
     * A class.
     *
     * @param name of the class
     * @param recalls of each run, in percent
     * @param change of the last run to the first, in points
     */
    public record ClassRow(String name, List<String> recalls, double change) {
        /** As {@code +3.5}. */
        public String changed() {
            return change == 0 ? "0.0" : String.format(Locale.ROOT, "%+.1f", change);
        }

        /** The style of the change. */
        public String style() {
            return change > 0 ? "plus" : change < 0 ? "minus" : "soft";
        }
    }

    /** Metrics besides the accuracy. */
    public static final List<Metric> OTHERS = List.of(Metric.MACRO_F1, Metric.LOG_LOSS, Metric.CALIBRATION_ERROR);

    static ComparisonView of(List<RunMaterial> runs) {
        return new ComparisonView(
                runs.stream().map(RunMaterial::name).toList(),
                runs.stream().map(ComparisonView::row).toList(),
                runs.stream()
                        .skip(1)
                        .map(run -> difference(run, runs.getFirst()))
                        .toList(),
                curves(runs),
                classes(runs));
    }

    private static List<Evaluation> evaluations(RunMaterial run) {
        return run.folds().stream().map(FoldMaterial::evaluation).toList();
    }

    private static Row row(RunMaterial run) {
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

    private static Difference difference(RunMaterial run, RunMaterial first) {
        try {
            // In the order of the page, so that 'the first' of a refusal is the page's first.
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

    /** Held-back accuracies where there are any, otherwise those of the training, of each run's first fold. */
    private static Optional<Chart> curves(List<RunMaterial> runs) {
        List<Line> lines = new ArrayList<>();
        int most = 1;
        for (RunMaterial run : runs) {
            List<EpochDone> epochs = run.folds().getFirst().epochs();
            boolean judged = LearningView.judged(epochs);
            most = Math.max(most, epochs.size());
            if (!epochs.isEmpty()) {
                lines.add(Line.of(
                        run.name() + (judged ? ", validation" : ", training"),
                        IntStream.rangeClosed(1, epochs.size())
                                .mapToObj(number -> (double) number)
                                .toList(),
                        epochs.stream()
                                .map(epoch ->
                                        100 * (judged ? 1 - epoch.validation().error() : epoch.accuracy()))
                                .toList()));
            }
        }
        if (lines.isEmpty()) {
            return Optional.empty();
        }
        Chart chart = Chart.of(
                "accuracy in % by epoch",
                Axis.counting("epoch", Scale.exactly(1, most)), Axis.of("accuracy in %", Scale.exactly(0, 100)));
        for (Line line : lines) {
            chart = chart.with(line);
        }
        return Optional.of(chart);
    }

    /** Those that changed most come first. */
    private static List<ClassRow> classes(List<RunMaterial> runs) {
        if (runs.stream().anyMatch(run -> !run.classes().equals(runs.getFirst().classes()))) {
            return List.of();
        }
        List<List<ClassScore>> scores = runs.stream()
                .map(run -> Outcomes.of(run).confusion().perClass())
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
