package org.gramian.evaluate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Who was taken for whom: <b>rows are the truth, columns are the prediction</b>.
 *
 * @param classes names of rows and of columns
 * @param counts {@code counts[i][j]}: images of class {@code i} that were predicted as class {@code j}
 */
public record ConfusionMatrix(List<String> classes, List<List<Integer>> counts) {
    /** What stands beside the matrix wherever it is written. */
    public static final String ORIENTATION = "rows are the truth, columns are the prediction";

    /**
     * One kind of mistake.
     *
     * @param truth the true class
     * @param predicted the class that it was taken for
     * @param count how often
     */
    public record Confusion(String truth, String predicted, int count) {}

    public ConfusionMatrix {
        classes = List.copyOf(classes);
        counts = counts.stream().map(List::copyOf).toList();
        int size = classes.size();
        if (counts.size() != size || counts.stream().anyMatch(row -> row.size() != size)) {
            throw new IllegalArgumentException("expected " + size + " rows of " + size + " counts, one per class");
        }
    }

    static ConfusionMatrix of(Evaluation evaluation) {
        int size = evaluation.classes().size();
        int[][] counts = new int[size][size];
        evaluation.predictions().forEach(prediction -> counts[prediction.truth()][prediction.predicted()]++);
        return new ConfusionMatrix(
                evaluation.classes(),
                Arrays.stream(counts)
                        .map(row -> Arrays.stream(row).boxed().toList())
                        .toList());
    }

    /** Returns the number of images of one class that were predicted as another, or as itself. */
    public int count(int truth, int predicted) {
        return counts.get(truth).get(predicted);
    }

    /** Every kind of mistake that was made, the most frequent first, equally frequent ones in the order of the classes. */
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

    /** One score per class, in their order. */
    public List<ClassScore> perClass() {
        return IntStream.range(0, classes.size())
                .mapToObj(k -> new ClassScore(
                        classes.get(k),
                        counts.get(k).stream().mapToInt(Integer::intValue).sum(),
                        counts.stream().mapToInt(row -> row.get(k)).sum(),
                        count(k, k)))
                .toList();
    }

    /** Balanced accuracy: the mean recall over the classes that have images. */
    public double macroRecall() {
        return mean(ClassScore::recall);
    }

    /**
     * The mean F1 over the classes that have images. One that was never predicted counts as 0; one without images
     * does not count.
     */
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
