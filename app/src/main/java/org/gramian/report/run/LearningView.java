package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.gramian.report.chart.Axis;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Line;
import org.gramian.report.chart.Scale;
import org.gramian.run.StageResult;
import org.gramian.train.loop.LearningRateFinder;
import org.gramian.train.loop.LearningRateFinder.Point;
import org.gramian.train.loop.TrainEvent.EpochDone;

/**
 * The course of a fold's training.
 *
 * @param fold its name
 * @param charts loss, accuracy, how far W is from orthonormal columns where that was noted, and range tests of learning rates
 * @param sentence what to see in them
 * @param remarks on stages that were extended or still improved at their end, and on a classifier that was solved again
 */
public record LearningView(String fold, List<Chart> charts, String sentence, List<String> remarks) {
    static LearningView of(
            String fold, List<EpochDone> epochs, List<StageResult> stages, List<LearningRateFinder.Result> rateTests) {
        boolean judged = judged(epochs);
        Chart loss = empty("loss", epochs, Scale.linear(0, most(epochs, judged)))
                .with(line("training", epochs, EpochDone::loss));
        Chart accuracy = empty("accuracy in %", epochs, Scale.exactly(0, 100))
                .with(line("training", epochs, epoch -> 100 * epoch.accuracy()));
        if (judged) {
            loss = loss.with(
                    line("validation", epochs, epoch -> epoch.validation().loss()));
            accuracy = accuracy.with(line(
                    "validation", epochs, epoch -> 100 * (1 - epoch.validation().error())));
        }
        List<Chart> charts = new ArrayList<>(List.of(staged(loss, epochs), staged(accuracy, epochs)));
        if (epochs.stream().anyMatch(epoch -> epoch.orthogonality().isPresent())) {
            charts.add(orthogonality(epochs));
        }
        rateTests.stream()
                .filter(test -> !test.points().isEmpty())
                .map(LearningView::rateTest)
                .forEach(charts::add);
        return new LearningView(fold, charts, sentence(epochs, judged), remarks(stages));
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

    /** Whether epochs were judged on images that they did not learn from. */
    static boolean judged(List<EpochDone> epochs) {
        return epochs.stream().anyMatch(epoch -> epoch.validation().loss() != epoch.loss());
    }

    private static double most(List<EpochDone> epochs, boolean judged) {
        return epochs.stream()
                .mapToDouble(epoch ->
                        judged ? Math.max(epoch.loss(), epoch.validation().loss()) : epoch.loss())
                .filter(Double::isFinite)
                .max()
                .orElse(1);
    }

    private static Chart empty(String title, List<EpochDone> epochs, Scale scale) {
        return Chart.of(title, Axis.counting("epoch", Scale.exactly(1, epochs.size())), Axis.of(title, scale));
    }

    private static List<Double> numbers(List<EpochDone> epochs) {
        return IntStream.rangeClosed(1, epochs.size())
                .mapToObj(number -> (double) number)
                .toList();
    }

    private static Line line(String name, List<EpochDone> epochs, ToDoubleFunction<EpochDone> value) {
        return Line.of(
                name,
                numbers(epochs),
                epochs.stream().map(epoch -> value.applyAsDouble(epoch)).toList());
    }

    /** Marks where the second stage begins. */
    private static Chart staged(Chart chart, List<EpochDone> epochs) {
        for (int i = 1; i < epochs.size(); i++) {
            if (epochs.get(i).stage() != epochs.get(i - 1).stage()) {
                return chart.ruled(i + 0.5, "stage " + epochs.get(i).stage());
            }
        }
        return chart;
    }

    private static Chart orthogonality(List<EpochDone> epochs) {
        List<Double> values = epochs.stream()
                .map(epoch -> epoch.orthogonality().isPresent()
                        ? Math.max(1e-9, epoch.orthogonality().getAsDouble())
                        : Double.NaN)
                .toList();
        double low =
                values.stream().filter(Double::isFinite).reduce(Double::min).orElse(1e-9);
        double high =
                values.stream().filter(Double::isFinite).reduce(Double::max).orElse(1.0);
        String title = "‖WᵀW − I‖";
        Chart chart = empty(title, epochs, Scale.logarithmic(low, high)).with(Line.of(title, numbers(epochs), values));
        return staged(chart, epochs);
    }

    /** The smoothed loss over the learning rate, with a mark at the rate of the stage. */
    private static Chart rateTest(LearningRateFinder.Result test) {
        List<Double> rates = test.points().stream().map(Point::rate).toList();
        List<Double> losses = test.points().stream().map(Point::smoothed).toList();
        double low = losses.stream().reduce(Double::min).orElseThrow();
        // The last losses of a test are those of a training that diverges: cut off, so that the descent is seen.
        double high = Math.min(losses.stream().reduce(Double::max).orElseThrow(), 1.5 * losses.getFirst());
        return Chart.of(
                        "learning rate range test, stage " + test.stage(),
                        Axis.of("learning rate", Scale.logarithmic(rates.getFirst(), rates.getLast())),
                        Axis.of("smoothed loss", Scale.linear(low, high)))
                .with(Line.of("smoothed loss", rates, losses))
                .ruled(test.rate(), (test.found() ? "lr " : "default lr ") + test.rateText());
    }

    private static String sentence(List<EpochDone> epochs, boolean judged) {
        EpochDone last = epochs.getLast();
        String text = Figures.count(epochs.size(), "epoch") + "; final training loss " + Figures.number(last.loss())
                + ", training accuracy " + Figures.percent(last.accuracy()) + " %";
        if (!judged) {
            return text + ". No validation set.";
        }
        return text + ", validation accuracy "
                + Figures.percent(1 - last.validation().error()) + " %.";
    }
}
