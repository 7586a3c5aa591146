package org.gramian.evaluate.compare;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.jspecify.annotations.Nullable;

/**
 * JSON file of an evaluation: test set, classes, every score, the temperature, and all metrics. A run has {@value #FILE} in its
 * folder, or in {@code fold-1} and so on.
 *
 * <p>The file begins with {@code "format": "gramian-evaluation"} and a version. Unknown fields are errors, as is a confusion
 * matrix that does not match the predictions. Exceptions of reading have the message {@code FILE: what was expected, what was
 * found}.
 */
public final class EvaluationFile {
    /** File name in the folder of a run or fold. */
    public static final String FILE = "evaluation.json";

    /** File of the training images, each scored by a classifier of a cross-validation that did not see it. */
    public static final String OUT_OF_FOLD = "out-of-fold.json";

    private static final String FOLD = "fold-";
    private static final String FORMAT = "gramian-evaluation";
    private static final int VERSION = 1;

    /** About ten million scores; reading takes a few times as much memory. */
    private static final long MAX_BYTES = 1L << 28;

    private EvaluationFile() {}

    /** The JSON of the file. {@code results} follows from the rest: it is for other programs, and is only compared when read. */
    @JsonPropertyOrder({"format", "version", "setting", "classes", "temperature", "results", "predictions"})
    private record Document(
            String format,
            int version,
            Setting setting,
            List<String> classes,
            Temperature temperature,
            Map<String, Object> results,
            List<ImagePrediction> predictions) {}

    /** Writes or replaces a file atomically. */
    public static void write(Path path, Evaluation evaluation) throws IOException {
        Document document = new Document(
                FORMAT,
                VERSION,
                evaluation.setting(),
                evaluation.classes(),
                evaluation.temperature(),
                results(evaluation),
                evaluation.predictions());
        AtomicFile.putText(path, text -> text.write(JsonText.indented(document) + "\n"));
    }

    private static Map<String, Object> results(Evaluation evaluation) {
        Map<String, Object> results = new LinkedHashMap<>();
        results.put("images", evaluation.predictions().size());
        results.put("right", evaluation.accuracy().right());
        for (Metric metric : Metric.values()) {
            results.put(metric.key(), metric.of(evaluation));
        }
        results.put("accuracyInterval95", evaluation.accuracy().interval());
        results.put(
                "withoutTemperature", evaluation.calibrated(Temperature.NONE).calibration());
        results.put("reliability", evaluation.calibration().bins());
        ConfusionMatrix confusion = evaluation.confusion();
        results.put("perClass", confusion.perClass());
        Map<String, Object> matrix = new LinkedHashMap<>();
        matrix.put("orientation", ConfusionMatrix.ORIENTATION);
        matrix.put("counts", confusion.counts());
        results.put("confusion", matrix);
        return results;
    }

    /** Reads a file. */
    public static Evaluation read(Path path) throws IOException {
        Document document = JsonText.read(path, Document.class, FORMAT, VERSION, MAX_BYTES);
        Evaluation evaluation;
        try {
            evaluation = new Evaluation(
                    document.setting(), document.classes(), document.predictions(), document.temperature());
        } catch (IllegalArgumentException e) {
            throw failure(path, "inconsistent content: " + e.getMessage(), e);
        }
        boolean agrees = document.results().get("confusion") instanceof Map<?, ?> stored
                && evaluation.confusion().counts().equals(stored.get("counts"));
        if (!agrees) {
            throw failure(
                    path,
                    "expected the confusion matrix of its predictions, found another; the file was edited or is"
                            + " damaged: evaluate the model again",
                    null);
        }
        return evaluation;
    }

    private static IOException failure(Path path, String problem, @Nullable Exception cause) {
        return new IOException(path + ": " + problem, cause);
    }

    /** Returns the folder name of a fold, e.g. {@code fold-1}. */
    public static String fold(int number) {
        return FOLD + number;
    }

    /** Returns the folders of a run's folds, 10 after 9; empty for a run of one fold. */
    public static List<Path> folds(Path run) throws IOException {
        List<Path> folds = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(run, FOLD + "*")) {
            for (Path path : found) {
                if (Files.isDirectory(path)) {
                    folds.add(path);
                }
            }
        }
        folds.sort(
                Comparator.<Path>comparingInt(path -> path.toString().length()).thenComparing(Path::toString));
        return folds;
    }

    /** Reads all folds of a run in order, or one evaluation file. */
    public static List<Evaluation> readAll(Path fileOrRun) throws IOException {
        if (!Files.isDirectory(fileOrRun)) {
            return List.of(read(fileOrRun));
        }
        List<Evaluation> evaluations = new ArrayList<>();
        for (Path fold : folds(fileOrRun)) {
            Path file = fold.resolve(FILE);
            if (!Files.exists(file)) {
                throw failure(file, "expected an evaluation, found none: this fold of the run is not finished", null);
            }
            evaluations.add(read(file));
        }
        if (!evaluations.isEmpty()) {
            return evaluations;
        }
        if (!Files.exists(fileOrRun.resolve(FILE))) {
            throw missing(fileOrRun);
        }
        return List.of(read(fileOrRun.resolve(FILE)));
    }

    private static IOException missing(Path folder) throws IOException {
        List<String> runs = new ArrayList<>();
        try (DirectoryStream<Path> below = Files.newDirectoryStream(folder, path -> Files.exists(path.resolve(FILE)))) {
            below.forEach(run -> runs.add(run.toString()));
        }
        return failure(
                folder,
                runs.isEmpty()
                        ? "expected a run folder of 'gramian train', found no %s or %s*/%s".formatted(FILE, FOLD, FILE)
                        : "expected a run, found a folder of runs; choose from: "
                                + QuotedText.some(runs.stream().sorted().toList()),
                null);
    }
}
