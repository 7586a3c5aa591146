package org.gramian.evaluate.compare;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Evaluation;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.Item;
import org.gramian.linear.CrossValidation;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.Lda;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The images of a run, those with the most suspicious labels first.
 *
 * <p>An image is judged by the probabilities of a classifier that did not see it and by the labels of its nearest neighbours
 * among all other images (leave-one-out k-NN on the short descriptors of a {@link Gallery}). With the probability p and the
 * smoothed share v of neighbours of a class c,
 *
 * <pre>
 * q(c) ∝ p(c)^(1−w) · v(c)^w,   v(c) = (m(c) + 1/K) / (k + 1),   suspicion = 1 − q(label)
 * </pre>
 *
 * <p>for m of k neighbours and K classes. The class of the largest q is suggested.
 */
public record LabelReview(List<Row> rows) {
    public static final String FILE = "review.csv";

    private static final List<String> COLUMNS = List.of("path", "label", "suggested", "suspicion");
    private static final int NEIGHBOURS = 10;
    private static final double NEIGHBOURS_WEIGHT = 0.25;
    private static final int BLOCK = 256;

    /**
     * An image.
     *
     * @param index of the image in the gallery
     * @param suggested its label if no other class is more probable
     * @param suspicion from 0 to 1
     * @param neighbours indices of its nearest neighbours, the nearest first
     */
    public record Row(
            int index, String path, String label, String suggested, double suspicion, List<Integer> neighbours) {
        public Row {
            neighbours = List.copyOf(neighbours);
        }

        public boolean isSuspicious() {
            return !suggested.equals(label);
        }
    }

    public LabelReview {
        rows = List.copyOf(rows);
    }

    /**
     * Reviews the labels of a gallery.
     *
     * @param unseen predictions for images that the classifier did not see; images without one get that of a cross-validation of
     *     {@link Lda} on the short descriptors
     */
    public static LabelReview of(Gallery gallery, List<Evaluation> unseen) {
        List<Item> items = gallery.items();
        Map<String, double[]> predicted = new HashMap<>();
        for (Evaluation evaluation : unseen) {
            if (evaluation.classes().equals(gallery.classes())) {
                double temperature = evaluation.temperature().value();
                evaluation
                        .predictions()
                        .forEach(one -> predicted.put(
                                one.name(),
                                Arrays.stream(one.logits().probabilities(temperature))
                                        .map(StrictMath::log)
                                        .toArray()));
            }
        }
        try (Scope _ = Scope.open()) {
            Tensor vectors = vectors(gallery);
            boolean isComplete = items.stream().allMatch(item -> predicted.containsKey(item.name()));
            List<double[]> others = isComplete ? List.of() : crossValidated(vectors, gallery);
            List<List<Integer>> nearest = nearest(vectors);
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i < items.size(); i++) {
                double[] log = predicted.get(items.get(i).name());
                rows.add(row(gallery, i, log == null ? others.get(i) : log, nearest.get(i)));
            }
            rows.sort(Comparator.comparingDouble(Row::suspicion).reversed().thenComparing(Row::path));
            return new LabelReview(rows);
        }
    }

    private static Tensor vectors(Gallery gallery) {
        int length = gallery.vectorSize();
        float[] all = new float[gallery.items().size() * length];
        for (int i = 0; i < gallery.items().size(); i++) {
            System.arraycopy(gallery.vector(i), 0, all, i * length, length);
        }
        Shape shape = Shape.of(gallery.items().size(), length);
        return Tensors.copyOf(MemorySegment.ofArray(all), DType.F32, shape);
    }

    /** Returns the out-of-fold log probabilities of each image; zeros if a class has fewer than two images, or they do not differ. */
    private static List<double[]> crossValidated(Tensor vectors, Gallery gallery) {
        int classes = gallery.classes().size();
        int[] labels = gallery.items().stream().mapToInt(Item::label).toArray();
        int[] images = IntStream.range(0, labels.length).toArray();
        List<double[]> unknown = Collections.nCopies(labels.length, new double[classes]);
        if (Arrays.stream(labels).distinct().count() < classes) {
            return unknown;
        }
        try {
            return new Lda(OptionalDouble.empty())
                    .solve(LabelledRows.of(vectors, labels, images, classes), SolverListener.NONE)
                    .crossValidation()
                    .map(CrossValidation::logProbabilities)
                    .orElse(unknown);
        } catch (LinearSolver.UnsolvableException _) { // the neighbours alone decide
            return unknown;
        }
    }

    /** Returns the nearest other rows of each row by Euclidean distance, the nearest first. */
    private static List<List<Integer>> nearest(Tensor vectors) {
        int n = (int) vectors.size(0);
        double[] squares = vectors.mul(vectors).sum(1).toDoubles();
        Tensor transposed = vectors.transpose();
        List<List<Integer>> nearest = new ArrayList<>();
        for (int start = 0; start < n; start += BLOCK) {
            int end = Math.min(n, start + BLOCK);
            try (Scope _ = Scope.open()) {
                double[] products =
                        vectors.slice(0, start, end).matmul(transposed).toDoubles();
                for (int i = start; i < end; i++) {
                    int row = (i - start) * n;
                    double[] distances = new double[n];
                    Arrays.setAll(distances, j -> squares[j] - 2 * products[row + j]);
                    distances[i] = Double.POSITIVE_INFINITY;
                    nearest.add(smallest(distances, Math.min(NEIGHBOURS, n - 1)));
                }
            }
        }
        return nearest;
    }

    private static List<Integer> smallest(double[] values, int count) {
        Comparator<Integer> order =
                Comparator.<Integer>comparingDouble(j -> values[j]).thenComparing(Comparator.naturalOrder());
        PriorityQueue<Integer> best = new PriorityQueue<>(order.reversed());
        for (int j = 0; j < values.length; j++) {
            if (best.size() < count || (count > 0 && values[j] < values[best.element()])) {
                best.add(j);
                if (best.size() > count) {
                    best.remove();
                }
            }
        }
        return best.stream().sorted(order).toList();
    }

    private static Row row(Gallery gallery, int index, double[] logProbabilities, List<Integer> nearest) {
        int classes = logProbabilities.length;
        double[] votes = new double[classes];
        Arrays.fill(votes, 1.0 / classes);
        nearest.forEach(j -> votes[gallery.items().get(j).label()]++);
        double[] joint = new double[classes];
        double sum = 0;
        int best = 0;
        for (int c = 0; c < classes; c++) {
            joint[c] = StrictMath.exp((1 - NEIGHBOURS_WEIGHT) * logProbabilities[c])
                    * StrictMath.pow(votes[c] / (nearest.size() + 1), NEIGHBOURS_WEIGHT);
            sum += joint[c];
            best = joint[c] > joint[best] ? c : best;
        }
        Item item = gallery.items().get(index);
        List<String> names = gallery.classes();
        double suspicion = 1 - joint[item.label()] / sum;
        return new Row(index, item.name(), names.get(item.label()), names.get(best), suspicion, nearest);
    }

    /** Writes the images as CSV; {@code label} is the column to correct. */
    public void write(Path file) throws IOException {
        CsvText.write(file, lines -> {
            lines.accept(COLUMNS);
            rows.forEach(row -> lines.accept(
                    List.of(row.path, row.label, row.suggested, String.format(Locale.ROOT, "%.4f", row.suspicion))));
        });
    }
}
