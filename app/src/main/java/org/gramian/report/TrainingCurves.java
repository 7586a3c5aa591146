package org.gramian.report;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Chart.Axis;
import org.gramian.report.chart.Chart.Line;
import org.gramian.report.chart.Scale;
import org.gramian.train.event.TrainEvent.EpochDone;

/**
 * Learning curves: loss, accuracy and learning rate by epoch, counted through all stages. A vertical line marks where a
 * stage begins. Values that are not finite are gaps.
 */
public final class TrainingCurves {
    private TrainingCurves() {}

    /**
     * A run to compare with others.
     *
     * @param name legend entry; runs of different folders may share it
     * @param epochs at least one
     */
    public record Run(String name, List<EpochDone> epochs) {
        public Run {
            epochs = List.copyOf(epochs);
            if (epochs.isEmpty()) {
                throw new IllegalArgumentException("expected at least one epoch, found none for " + name);
            }
        }
    }

    /** Returns the loss of the training set and, if there is one, of the validation set. */
    public static Chart loss(List<EpochDone> epochs) {
        Line training = line("training", epochs, EpochDone::loss);
        Line validation = line("validation", epochs, EpochDone::validationLoss);
        double highest = Stream.of(training, validation)
                .flatMap(line -> line.values().stream())
                .reduce(Double::max)
                .orElse(1.0);
        Chart chart = byEpoch("loss", epochs, Scale.linear(0, highest)).with(training);
        return isValidated(epochs) ? chart.with(validation) : chart;
    }

    /** Returns the accuracy on the training set and, if there is one, on the validation set. */
    public static Chart accuracy(List<EpochDone> epochs) {
        Chart chart = byEpoch("accuracy in %", epochs, Scale.exactly(0, 100))
                .with(line("training", epochs, TrainingCurves::trainingAccuracy));
        return isValidated(epochs) ? chart.with(line("validation", epochs, TrainingCurves::validationAccuracy)) : chart;
    }

    /** Returns the learning rate at the last step of every epoch, on a logarithmic scale. */
    public static Chart learningRate(List<EpochDone> epochs) {
        return positive("learning rate", epochs, epoch -> epoch.learningRate() > 0 ? epoch.learningRate() : Double.NaN);
    }

    /** Returns the distance {@code ‖WᵀW − I‖} of orthonormal parameters, on a logarithmic scale. */
    public static Chart orthogonality(List<EpochDone> epochs) {
        return positive(
                "‖WᵀW − I‖",
                epochs,
                epoch -> epoch.orthogonality().isPresent()
                        ? Math.max(1e-9, epoch.orthogonality().getAsDouble())
                        : Double.NaN);
    }

    private static Chart positive(String title, List<EpochDone> epochs, ToDoubleFunction<EpochDone> value) {
        Line line = line(title, epochs, value);
        double low = line.values().stream().reduce(Double::min).orElse(0.1);
        double high = line.values().stream().reduce(Double::max).orElse(1.0);
        return byEpoch(title, epochs, Scale.logarithmic(low, high)).with(line);
    }

    /**
     * Returns the accuracies of several runs: on the validation set if all runs have one, otherwise on the training
     * set. Stages are marked if they begin at the same epoch in all runs.
     */
    public static Chart comparison(List<Run> runs) {
        if (runs.isEmpty()) {
            throw new IllegalArgumentException("expected at least one run to compare, found none");
        }
        boolean validated = runs.stream().allMatch(run -> isValidated(run.epochs()));
        List<Line> lines = runs.stream()
                .map(run -> line(
                        run.name(),
                        run.epochs(),
                        validated ? TrainingCurves::validationAccuracy : TrainingCurves::trainingAccuracy))
                .toList();
        List<Double> values =
                lines.stream().flatMap(line -> line.values().stream()).toList();
        int longest = runs.stream().mapToInt(run -> run.epochs().size()).max().orElseThrow();
        Chart chart = Chart.of(
                (validated ? "validation" : "training") + " accuracy in %",
                Axis.counting("epoch", Scale.exactly(1, longest)),
                Axis.of(
                        "accuracy in %",
                        Scale.linear(
                                values.stream().reduce(Double::min).orElse(0.0),
                                values.stream().reduce(Double::max).orElse(100.0))));
        for (Line line : lines) {
            chart = chart.with(line);
        }
        boolean aligned =
                runs.stream().map(run -> stages(run.epochs())).distinct().count() == 1;
        return aligned ? staged(chart, runs.getFirst().epochs()) : chart;
    }

    /** Returns whether epochs were scored on a validation set; without one, the score repeats the training loss. */
    public static boolean isValidated(List<EpochDone> epochs) {
        return epochs.stream().anyMatch(epoch -> Double.compare(epoch.validationLoss(), epoch.loss()) != 0);
    }

    private static Chart byEpoch(String title, List<EpochDone> epochs, Scale scale) {
        Axis axis = Axis.counting("epoch", Scale.exactly(1, epochs.size()));
        return staged(Chart.of(title, axis, Axis.of(title, scale)), epochs);
    }

    private static Line line(String name, List<EpochDone> epochs, ToDoubleFunction<EpochDone> value) {
        return Line.of(
                name,
                IntStream.rangeClosed(1, epochs.size())
                        .mapToObj(number -> (double) number)
                        .toList(),
                epochs.stream().map(epoch -> value.applyAsDouble(epoch)).toList());
    }

    private static double trainingAccuracy(EpochDone epoch) {
        return 100 * epoch.accuracy();
    }

    private static double validationAccuracy(EpochDone epoch) {
        return 100 * (1 - epoch.validationError());
    }

    private static Chart staged(Chart chart, List<EpochDone> epochs) {
        Chart marked = chart;
        for (Map.Entry<Integer, Integer> stage : stages(epochs).entrySet()) {
            marked = marked.ruled(stage.getKey() + 0.5, "stage " + stage.getValue());
        }
        return marked;
    }

    /** Returns the stages after the first, by the number of epochs before them. */
    private static Map<Integer, Integer> stages(List<EpochDone> epochs) {
        Map<Integer, Integer> stages = new TreeMap<>();
        for (int i = 1; i < epochs.size(); i++) {
            if (epochs.get(i).stage() != epochs.get(i - 1).stage()) {
                stages.put(i, epochs.get(i).stage());
            }
        }
        return stages;
    }
}
