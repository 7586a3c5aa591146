package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.report.Chart;
import org.gramian.report.Chart.Axis;
import org.gramian.report.Chart.Line;
import org.gramian.report.Figures;
import org.gramian.report.Scale;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.StageResult;

/**
 * Learning curves of a fold by epoch, counted through all stages. A vertical line marks where a stage begins. Values that are not
 * finite are gaps.
 *
 * @param remarks on stages that were still improving, and on a refitted classifier
 */
public record LearningView(String fold, List<Chart> charts, String sentence, List<String> remarks) {

    static LearningView of(RunData.FoldData fold) {
        List<EpochDone> epochs = fold.epochs();
        List<Chart> charts = new ArrayList<>(List.of(loss(epochs), accuracy(epochs), learningRate(epochs)));
        if (epochs.stream().anyMatch(epoch -> epoch.orthogonality().isPresent())) {
            charts.add(positive(
                    "‖WᵀW − I‖",
                    epochs,
                    epoch -> epoch.orthogonality().isPresent()
                            ? Math.max(1e-9, epoch.orthogonality().getAsDouble())
                            : Double.NaN));
        }
        List<String> remarks = new ArrayList<>();
        for (StageResult stage : fold.stages()) {
            stage.refit().ifPresent(refit -> remarks.add(remark(refit)));
            stage.advice()
                    .ifPresent(
                            advice -> remarks.add(Character.toUpperCase(advice.charAt(0)) + advice.substring(1) + "."));
        }
        return new LearningView(fold.name(), charts, sentence(epochs), remarks);
    }

    private static String remark(StageResult.Refit refit) {
        String end = refit.kept()
                ? "is used."
                : refit.solved().isPresent()
                        ? "is not used: it makes more errors on the validation set."
                        : "is not used: a class has too few images for cross-validation.";
        return "The classifier refitted on the trained descriptors (" + refit.classifier() + ") " + end;
    }

    private static String sentence(List<EpochDone> epochs) {
        EpochDone last = epochs.getLast();
        return Figures.count(epochs.size(), "epoch") + "; final training loss " + Figures.number(last.loss())
                + ", training accuracy " + Figures.percent(last.accuracy()) + " %"
                + (isValidated(epochs)
                        ? ", validation accuracy " + Figures.percent(1 - last.validationError()) + " %."
                        : ". No validation set.");
    }

    static Chart loss(List<EpochDone> epochs) {
        Line training = line("training", epochs, EpochDone::loss);
        Line validation = line("validation", epochs, EpochDone::validationLoss);
        double highest = Stream.of(training, validation)
                .flatMap(line -> line.values().stream())
                .reduce(Double::max)
                .orElse(1.0);
        return byEpoch("loss", epochs, Scale.linear(0, highest), training, validation);
    }

    static Chart accuracy(List<EpochDone> epochs) {
        return byEpoch(
                "accuracy in %",
                epochs,
                Scale.exactly(0, 100),
                line("training", epochs, LearningView::trainingAccuracy),
                line("validation", epochs, LearningView::validationAccuracy));
    }

    /** Draws the learning rate at the last step of every epoch, on a logarithmic scale. */
    static Chart learningRate(List<EpochDone> epochs) {
        return positive("learning rate", epochs, epoch -> epoch.learningRate() > 0 ? epoch.learningRate() : Double.NaN);
    }

    private static Chart positive(String title, List<EpochDone> epochs, ToDoubleFunction<EpochDone> value) {
        Line line = line(title, epochs, value);
        double low = line.values().stream().reduce(Double::min).orElse(0.1);
        double high = line.values().stream().reduce(Double::max).orElse(1.0);
        return chart(title, epochs.size(), Axis.of(title, Scale.logarithmic(low, high)), List.of(line), rules(epochs));
    }

    /**
     * Draws the accuracies of several runs: on the validation set if all runs have one, otherwise on the training set. Stages are
     * marked if they begin at the same epoch in all runs.
     */
    static Optional<Chart> comparison(List<String> names, List<List<EpochDone>> histories) {
        List<List<EpochDone>> trained =
                histories.stream().filter(epochs -> !epochs.isEmpty()).toList();
        if (trained.isEmpty()) {
            return Optional.empty();
        }
        boolean validated = trained.stream().allMatch(LearningView::isValidated);
        List<Line> lines = IntStream.range(0, names.size())
                .filter(i -> !histories.get(i).isEmpty())
                .mapToObj(i -> line(
                        names.get(i),
                        histories.get(i),
                        validated ? LearningView::validationAccuracy : LearningView::trainingAccuracy))
                .toList();
        List<Double> values =
                lines.stream().flatMap(line -> line.values().stream()).toList();
        Scale scale = Scale.linear(
                values.stream().reduce(Double::min).orElse(0.0),
                values.stream().reduce(Double::max).orElse(100.0));
        boolean aligned = trained.stream().map(LearningView::rules).distinct().count() == 1;
        return Optional.of(chart(
                (validated ? "validation" : "training") + " accuracy in %",
                trained.stream().mapToInt(List::size).max().orElseThrow(),
                Axis.of("accuracy in %", scale),
                lines,
                aligned ? rules(trained.getFirst()) : List.of()));
    }

    /** Returns whether epochs were scored on a validation set; without one, the score repeats the training loss. */
    private static boolean isValidated(List<EpochDone> epochs) {
        return epochs.stream().anyMatch(epoch -> Double.compare(epoch.validationLoss(), epoch.loss()) != 0);
    }

    private static Chart byEpoch(String title, List<EpochDone> epochs, Scale scale, Line training, Line validation) {
        List<Line> lines = isValidated(epochs) ? List.of(training, validation) : List.of(training);
        return chart(title, epochs.size(), Axis.of(title, scale), lines, rules(epochs));
    }

    private static Chart chart(String title, int epochs, Axis y, List<Line> lines, List<Chart.Rule> rules) {
        return new Chart(title, Axis.counting("epoch", Scale.exactly(1, epochs)), y, lines, rules);
    }

    private static Line line(String name, List<EpochDone> epochs, ToDoubleFunction<EpochDone> value) {
        return Line.of(name, epochs.stream().map(value::applyAsDouble).toList());
    }

    private static double trainingAccuracy(EpochDone epoch) {
        return 100 * epoch.accuracy();
    }

    private static double validationAccuracy(EpochDone epoch) {
        return 100 * (1 - epoch.validationError());
    }

    /** Marks the stages after the first between two epochs. */
    private static List<Chart.Rule> rules(List<EpochDone> epochs) {
        return IntStream.range(1, epochs.size())
                .filter(i -> epochs.get(i).stage() != epochs.get(i - 1).stage())
                .mapToObj(i -> new Chart.Rule(i + 0.5, "stage " + epochs.get(i).stage()))
                .toList();
    }
}
