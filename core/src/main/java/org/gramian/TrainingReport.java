package org.gramian;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.JsonText;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.model.Classifier;
import org.gramian.model.ModelFile;
import org.gramian.run.RunResult;
import org.gramian.run.RunResult.FoldResult;

/**
 * Result of training.
 *
 * @param folder of the run
 * @param folds trained and evaluated folds, at least one if {@code completed}
 * @param completed whether training came to its end; otherwise train into the same folder to resume
 * @param unreadable names of images that could not be read and were left out
 * @param reached where training ended, for example {@code stage 1, epoch 3}
 * @since 0.1
 */
public record TrainingReport(
        Path folder, List<Fold> folds, boolean completed, List<String> unreadable, String reached) {
    public TrainingReport {
        folds = List.copyOf(folds);
        unreadable = List.copyOf(unreadable);
    }

    /**
     * Result of one fold of the protocol, measured on its test set.
     *
     * @param folder of its files
     * @param model the model file, for {@link Classifier#load}
     * @param images number of test images
     * @param correct number of correctly classified test images
     * @param metrics by name: {@code accuracy}, {@code top5}, {@code balancedAccuracy}, {@code macroF1}, {@code logLoss}, {@code
     *     brier}, {@code calibrationError}; fractions, not per cent
     */
    public record Fold(Path folder, Path model, int images, int correct, Map<String, Double> metrics) {
        public Fold {
            metrics = Collections.unmodifiableMap(new LinkedHashMap<>(metrics));
        }

        static Fold of(FoldResult result) {
            Evaluation evaluation = result.evaluation();
            Map<String, Double> metrics = new LinkedHashMap<>();
            for (Metric metric : Metric.values()) {
                metrics.put(metric.key(), metric.of(evaluation));
            }
            return new Fold(
                    result.folder(),
                    result.model(),
                    evaluation.accuracy().count(),
                    evaluation.accuracy().right(),
                    metrics);
        }

        /** Returns the fraction of correctly classified test images. */
        public double accuracy() {
            return (double) correct / images;
        }
    }

    static TrainingReport of(Path folder, RunResult result, String reached) {
        return new TrainingReport(
                folder,
                result.folds().stream().map(Fold::of).toList(),
                result.early().isEmpty(),
                result.audit().unreadable().stream()
                        .map(image -> image.image().name())
                        .toList(),
                reached);
    }

    /** Returns the model of a run of one fold: the trained one, or the best so far of a cancelled run; empty if there is none yet. */
    public Optional<Path> bestSoFar() {
        return Optional.of(ModelFile.in(folder)).filter(Files::isRegularFile);
    }

    /**
     * Returns the mean accuracy on the test sets of the folds.
     *
     * @throws IllegalStateException if training was cancelled before a fold was evaluated
     */
    public double accuracy() {
        return metric(Metric.ACCURACY.key());
    }

    /**
     * Returns the mean of a metric over the folds.
     *
     * @param name of {@link Fold#metrics}
     * @throws IllegalStateException if training was cancelled before a fold was evaluated
     */
    public double metric(String name) {
        if (!first().metrics().containsKey(name)) {
            throw new IllegalArgumentException(
                    "expected a metric of " + first().metrics().keySet() + ", found '" + name + "'");
        }
        return folds.stream()
                .mapToDouble(fold -> fold.metrics().getOrDefault(name, Double.NaN))
                .average()
                .orElseThrow();
    }

    /** Returns the model file of the first fold. */
    public Path model() {
        return first().model();
    }

    /** Opens the model of the first fold on the CPU; close it after use. */
    public Classifier classifier() throws IOException {
        return Classifier.load(model());
    }

    /** Returns the report as a JSON object. */
    public String toJson() {
        return JsonText.of(JsonText.object(
                "folder",
                folder.toString(),
                "completed",
                completed,
                "reached",
                reached,
                "unreadable",
                unreadable,
                "folds",
                folds.stream()
                        .map(fold -> JsonText.object(
                                "model",
                                fold.model().toString(),
                                "images",
                                fold.images(),
                                "correct",
                                fold.correct(),
                                "metrics",
                                fold.metrics()))
                        .toList()));
    }

    private Fold first() {
        if (folds.isEmpty()) {
            throw new IllegalStateException("no fold was trained to its end, only to " + reached + "; train into "
                    + folder + " again to resume");
        }
        return folds.getFirst();
    }
}
