package org.gramian.evaluate;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Evaluation.ImagePrediction;

/**
 * Confusion matrix: <b>rows are the truth, columns are the prediction</b>.
 *
 * @param counts {@code counts[i][j]}: images of class {@code i} that were predicted as class {@code j}
 * @since 0.1
 */
public record ConfusionMatrix(List<String> classes, List<List<Integer>> counts) {
    public static final String ORIENTATION = "rows are the truth, columns are the prediction";

    /** Number of images of one class that were predicted as another. */
    public record Confusion(String truth, String predicted, int count) {}

    /** Precision, recall and F1 of one class. */
    @JsonPropertyOrder({"name", "support", "predicted", "right", "precision", "recall", "f1"})
    public record ClassScore(String name, int support, int predicted, int right) {
        /** Returns {@code right / predicted}; 0 for a class that was never predicted. */
        @JsonProperty
        public double precision() {
            return predicted == 0 ? 0 : (double) right / predicted;
        }

        /** Returns {@code right / support}; 0 for a class without images. */
        @JsonProperty
        public double recall() {
            return support == 0 ? 0 : (double) right / support;
        }

        /** Returns the harmonic mean {@code 2 right / (support + predicted)}; 0 if none is right. */
        @JsonProperty
        public double f1() {
            return right == 0 ? 0 : 2.0 * right / (support + predicted);
        }
    }

    public ConfusionMatrix {
        classes = List.copyOf(classes);
        counts = counts.stream().map(List::copyOf).toList();
        int size = classes.size();
        if (counts.size() != size || counts.stream().anyMatch(row -> row.size() != size)) {
            throw new IllegalArgumentException("expected " + size + " rows of " + size + " counts, one per class");
        }
    }

    /**
     * Writes a CSV file: a header with the predicted classes, then a line per true class; the first field of the header is the
     * orientation.
     */
    public void write(Path path) throws IOException {
        CsvText.write(path, rows -> {
            rows.accept(line("truth (rows) / prediction (columns)", classes));
            for (int k = 0; k < classes.size(); k++) {
                rows.accept(line(classes.get(k), counts.get(k)));
            }
        });
    }

    private static List<String> line(String first, List<?> others) {
        return Stream.concat(Stream.of(first), others.stream().map(Object::toString))
                .toList();
    }

    /** Counts predictions of at least one image. */
    public static ConfusionMatrix of(List<String> classes, List<ImagePrediction> predictions) {
        int[][] counts = new int[classes.size()][classes.size()];
        predictions.forEach(prediction -> counts[prediction.truth()][prediction.predicted()]++);
        return new ConfusionMatrix(
                classes,
                Arrays.stream(counts)
                        .map(row -> Arrays.stream(row).boxed().toList())
                        .toList());
    }

    /** Returns the number of images of one class that were predicted as another, or as itself. */
    public int count(int truth, int predicted) {
        return counts.get(truth).get(predicted);
    }

    /** Returns the confusions, the most frequent first, ties in the order of the classes. */
    public List<Confusion> confusions() {
        List<Confusion> found = new ArrayList<>();
        for (int truth = 0; truth < classes.size(); truth++) {
            for (int predicted = 0; predicted < classes.size(); predicted++) {
                if (truth != predicted && count(truth, predicted) > 0) {
                    found.add(new Confusion(classes.get(truth), classes.get(predicted), count(truth, predicted)));
                }
            }
        }
        found.sort(Comparator.comparingInt(Confusion::count).reversed());
        return found;
    }

    /** Returns precision, recall and F1 of each class. */
    public List<ClassScore> perClass() {
        return IntStream.range(0, classes.size())
                .mapToObj(k -> new ClassScore(
                        classes.get(k),
                        counts.get(k).stream().mapToInt(Integer::intValue).sum(),
                        counts.stream().mapToInt(row -> row.get(k)).sum(),
                        count(k, k)))
                .toList();
    }

    /** Returns the balanced accuracy: the mean recall over the classes that have images. */
    public double macroRecall() {
        return mean(ClassScore::recall);
    }

    /** Returns the mean F1 over the classes that have images; a class that was never predicted counts as 0. */
    public double macroF1() {
        return mean(ClassScore::f1);
    }

    private double mean(ToDoubleFunction<ClassScore> score) {
        return perClass().stream()
                .filter(row -> row.support() > 0)
                .mapToDouble(score)
                .average()
                .orElseThrow();
    }
}
