package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.report.TrainingCurves;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Chart.Axis;
import org.gramian.report.chart.Chart.Line;
import org.gramian.report.chart.Scale;
import org.gramian.run.StageResult;
import org.gramian.train.loop.LearningRateFinder;
import org.gramian.train.loop.LearningRateFinder.Point;
import org.gramian.train.loop.TrainEvent.EpochDone;

/**
 * Learning curves of a fold.
 *
 * @param fold name of the fold
 * @param charts loss, accuracy, learning rate, distance of W from orthonormality if recorded, and learning-rate range tests
 * @param sentence summary
 * @param remarks on stages that were extended or still improving, and on a refitted classifier
 */
public record LearningView(String fold, List<Chart> charts, String sentence, List<String> remarks) {
    static LearningView of(
            String fold, List<EpochDone> epochs, List<StageResult> stages, List<LearningRateFinder.Result> rateTests) {
        List<Chart> charts = new ArrayList<>(List.of(
                TrainingCurves.loss(epochs), TrainingCurves.accuracy(epochs), TrainingCurves.learningRate(epochs)));
        if (epochs.stream().anyMatch(epoch -> epoch.orthogonality().isPresent())) {
            charts.add(TrainingCurves.orthogonality(epochs));
        }
        rateTests.stream()
                .filter(test -> !test.points().isEmpty())
                .map(LearningView::rateTest)
                .forEach(charts::add);
        return new LearningView(fold, charts, sentence(epochs), remarks(stages));
    }

    private static List<String> remarks(List<StageResult> stages) {
        List<String> remarks = new ArrayList<>();
        for (StageResult stage : stages) {
            if (stage.epochs() > stage.planned()) {
                remarks.add("Stage " + stage.stage() + ": extended from " + Figures.count(stage.planned(), "epoch")
                        + " to " + stage.epochs() + " because the loss was still falling.");
            }
            stage.refit().ifPresent(refit -> remarks.add(remark(refit)));
            stage.advice()
                    .ifPresent(
                            advice -> remarks.add(Character.toUpperCase(advice.charAt(0)) + advice.substring(1) + "."));
        }
        return List.copyOf(remarks);
    }

    private static String remark(StageResult.Refit refit) {
        String end = refit.kept()
                ? "is used."
                : refit.solved().isPresent()
                        ? "is not used: it makes more errors on the validation set."
                        : "is not used: a class has too few images for cross-validation.";
        return "The classifier refitted on the trained descriptors (" + refit.classifier() + ") " + end;
    }

    /** Plots the smoothed loss over the learning rate and marks the rate of the stage. */
    private static Chart rateTest(LearningRateFinder.Result test) {
        List<Double> rates = test.points().stream().map(Point::rate).toList();
        List<Double> losses = test.points().stream().map(Point::smoothed).toList();
        double low = losses.stream().reduce(Double::min).orElseThrow();
        // Training diverges at the end of a test: cut off there, so that the descent remains visible.
        double high = Math.min(losses.stream().reduce(Double::max).orElseThrow(), 1.5 * losses.getFirst());
        return Chart.of(
                        "learning rate range test, stage " + test.stage(),
                        Axis.of("learning rate", Scale.logarithmic(rates.getFirst(), rates.getLast())),
                        Axis.of("smoothed loss", Scale.linear(low, high)))
                .with(Line.of("smoothed loss", rates, losses))
                .ruled(test.rate(), (test.found() ? "lr " : "default lr ") + test.rateText());
    }

    private static String sentence(List<EpochDone> epochs) {
        EpochDone last = epochs.getLast();
        String text = Figures.count(epochs.size(), "epoch") + "; final training loss " + Figures.number(last.loss())
                + ", training accuracy " + Figures.percent(last.accuracy()) + " %";
        if (!TrainingCurves.isValidated(epochs)) {
            return text + ". No validation set.";
        }
        return text + ", validation accuracy "
                + Figures.percent(1 - last.validation().error()) + " %.";
    }
}
