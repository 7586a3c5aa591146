package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Leave-one-out accuracy of a linear classifier in closed form, to compare descriptors within seconds.
 *
 * <p>The classifier is ridge regression on targets ±1, one class against the rest, in its dual form. With the Gram
 * matrix K {@code [n, n]} of the rows (a constant feature added for the bias) and {@code G = (K + λI)⁻¹}, the score of
 * row i by the classifier trained on all other rows is
 *
 * <pre>{@code f_i = y_i − (G Y)_i / G_ii}</pre>
 *
 * <p>so that one eigendecomposition of K gives the predictions of n classifiers for every λ (Rifkin, Lippert: Notes on
 * Regularized Least Squares, MIT-CSAIL-TR-2007-025, section 3).
 *
 * <p>Near-duplicates are left out together: a descriptor would otherwise score by recognizing the other image of a
 * pair. For a group S of m rows the scores by the classifier trained on all rows outside S are
 *
 * <pre>{@code F_S = Y_S − (G_SS)⁻¹ (G Y)_S}</pre>
 *
 * <p>with the block {@code G_SS [m, m]} (An, Liu, Venkatesh: Fast cross-validation algorithms for least squares support
 * vector machine and kernel ridge regression, Pattern Recognition 40, 2007).
 *
 * @param lambda best ridge λ, relative to a mean squared row length of 1
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record LeaveOneOut(double accuracy, double lambda, boolean[] correct) {
    /** Ridges λ in steps of about 3; the best is reported. */
    private static final List<Double> GRID = List.of(0.003, 0.01, 0.03, 0.1, 0.3, 1.0);

    /**
     * Computes the best leave-one-out accuracy over a grid of ridges.
     *
     * @param gram products of centred rows with one another, {@code [n, n]}, scaled to a mean diagonal of 1; see {@link #gram}
     * @param groups the group of each row, any number: rows of one group are left out together
     */
    public static LeaveOneOut of(Tensor gram, int[] labels, int[] groups, int classes) {
        int n = labels.length;
        if (!gram.shape().equals(Shape.of(n, n)) || groups.length != n) {
            throw new IllegalArgumentException("expected the Gram matrix of " + n + " rows as [" + n + ", " + n
                    + "] and " + n + " groups, found " + gram + " and " + groups.length);
        }
        try (Scope _ = Scope.open()) {
            double[] signs = new double[n * classes];
            Arrays.fill(signs, -1);
            for (int i = 0; i < n; i++) {
                signs[i * classes + labels[i]] = 1;
            }
            Tensor targets = Tensors.of(signs, Shape.of(n, classes), DType.F64).to(gram.device());
            Decompositions.Eigen eigen =
                    Decompositions.symmetricEigen(gram.to(DType.F64).add(1.0));
            Tensor vectors = eigen.vectors();
            Tensor rotated = vectors.transpose().matmul(targets); // [n, k]
            Tensor squares = vectors.mul(vectors);
            List<Block> blocks = blocks(vectors, groups);
            LeaveOneOut best = new LeaveOneOut(-1, 0, new boolean[n]);
            for (double lambda : GRID) {
                Tensor inverse = eigen.values().atLeast(0).add(lambda).reciprocal(); // [n]
                Tensor column = inverse.reshape(n, 1);
                Tensor solved = vectors.matmul(rotated.mul(column));
                Tensor scores = targets.sub(solved.div(squares.matmul(column)));
                double[] flat = scores.toDoubles();
                if (!blocks.isEmpty()) {
                    Tensor eigenvalues = inverse.to(Device.CPU);
                    Tensor weights = solved.to(Device.CPU);
                    blocks.forEach(block -> block.score(eigenvalues, weights, signs, flat));
                }
                boolean[] correct = correct(flat, labels, classes);
                double accuracy = CrossValidation.share(correct);
                if (accuracy > best.accuracy) {
                    best = new LeaveOneOut(accuracy, lambda, correct);
                }
            }
            return best;
        }
    }

    /** Returns the groups of at least two rows, on the CPU: they are too small for a GPU. */
    private static List<Block> blocks(Tensor vectors, int[] groups) {
        Map<Integer, List<Integer>> members = new LinkedHashMap<>();
        for (int i = 0; i < groups.length; i++) {
            members.computeIfAbsent(groups[i], _ -> new ArrayList<>()).add(i);
        }
        List<Block> blocks = new ArrayList<>();
        for (List<Integer> rows : members.values()) {
            if (rows.size() > 1) {
                long[] places = rows.stream().mapToLong(row -> row).toArray();
                Tensor index = Tensors.ofLongs(places, Shape.of(places.length));
                Tensor part = vectors.select(0, index.to(vectors.device()));
                blocks.add(new Block(rows, index, part.to(Device.CPU)));
            }
        }
        return blocks;
    }

    /**
     * Group S of m rows that are left out together.
     *
     * @param index the same as a tensor {@code [m]}
     * @param vectors rows of the eigenvectors {@code [m, n]}
     */
    private record Block(List<Integer> rows, Tensor index, Tensor vectors) {
        /**
         * Replaces the scores of the group by {@code Y_S − (G_SS)⁻¹ (G Y)_S}.
         *
         * @param eigenvalues of G {@code [n]}
         * @param solved {@code G Y [n, k]}
         * @param targets {@code Y [n, k]}
         */
        void score(Tensor eigenvalues, Tensor solved, double[] targets, double[] scores) {
            try (Scope _ = Scope.open()) {
                Tensor own = vectors.mul(eigenvalues).matmul(vectors.transpose());
                double[] residuals =
                        Decompositions.solve(own, solved.select(0, index)).toDoubles();
                int classes = residuals.length / rows.size();
                for (int i = 0; i < residuals.length; i++) {
                    int place = rows.get(i / classes) * classes + i % classes;
                    scores[place] = targets[place] - residuals[i];
                }
            }
        }
    }

    /**
     * A Gram matrix of centred rows, divided by their mean squared length.
     *
     * @param products {@code [n, n]} of the rows about their mean
     */
    public record Gram(Tensor products, double meanSquare) {}

    /** Computes the Gram matrix of rows {@code [n, d]} about their mean; it belongs to the open scope. */
    public static Gram gram(LabelledRows rows) {
        try (Scope scope = Scope.open()) {
            CentredRows centred = CentredRows.aroundMean(rows);
            Tensor products = centred.gram();
            double square = products.diagonal().to(DType.F64).sum().item() / rows.count();
            double scale = square > 0 ? square : 1; // all rows are equal
            return new Gram(scope.keep(products.mulInPlace(1 / scale)), scale);
        }
    }

    private static boolean[] correct(double[] scores, int[] labels, int classes) {
        boolean[] correct = new boolean[labels.length];
        for (int i = 0; i < labels.length; i++) {
            correct[i] = CrossValidation.top(Arrays.copyOfRange(scores, i * classes, (i + 1) * classes)) == labels[i];
        }
        return correct;
    }
}
