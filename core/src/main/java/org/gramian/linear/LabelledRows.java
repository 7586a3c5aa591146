package org.gramian.linear;

import java.util.Arrays;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Training data of a solver: rows {@code [n, d]}, each with a class, a group and a weight by class.
 *
 * <p>Rows of one group, such as the crops of one image, are not independent and stay in one fold of a cross-validation,
 * as do near-duplicates, which may span several groups. The tensor stays owned by the caller.
 */
public final class LabelledRows {
    private final Tensor rows;
    private final int[] labels;
    private final int[] groups;
    private final int[] duplicates;
    private final double[] weights;
    private final int[] counts;

    private LabelledRows(Tensor rows, int[] labels, int[] groups, int[] duplicates, double[] weights) {
        this.rows = rows;
        this.labels = labels.clone();
        this.groups = groups.clone();
        this.duplicates = duplicates.clone();
        this.weights = weights.clone();
        this.counts = new int[weights.length];
        Arrays.stream(labels).forEach(label -> counts[label]++);
    }

    /**
     * Creates rows of equal weight.
     *
     * @param rows {@code [n, d]}, float32
     * @param labels class of each row, starting at 0
     * @param groups group of each row, any number
     * @param classes number of classes k; each must have a row
     * @throws IllegalArgumentException if an argument is invalid
     */
    public static LabelledRows of(Tensor rows, int[] labels, int[] groups, int classes) {
        if (rows.shape().rank() != 2 || rows.type() != DType.F32 || rows.size(1) < 1) {
            throw new IllegalArgumentException("expected rows [n, d] in float32, found " + rows);
        }
        if (labels.length != rows.size(0) || groups.length != rows.size(0)) {
            throw new IllegalArgumentException("expected a label and a group for each of " + rows.size(0)
                    + " rows, found " + labels.length + " and " + groups.length);
        }
        if (classes < 2) {
            throw new IllegalArgumentException("expected at least 2 classes, found " + classes);
        }
        requireEveryClass(labels, classes);
        if (!rows.allFinite()) {
            throw new IllegalArgumentException("expected finite rows, found NaN or infinity: check"
                    + " for a logarithm or root of 0 without a floor");
        }
        double[] weights = new double[classes];
        Arrays.fill(weights, 1);
        return new LabelledRows(rows, labels, groups, groups, weights);
    }

    private static void requireEveryClass(int[] labels, int classes) {
        boolean[] seen = new boolean[classes];
        for (int label : labels) {
            if (label < 0 || label >= classes) {
                throw new IllegalArgumentException(
                        "labels must lie between 0 and " + (classes - 1) + ", found " + label);
            }
            seen[label] = true;
        }
        for (int c = 0; c < classes; c++) {
            if (!seen[c]) {
                throw new IllegalArgumentException("expected a training row of every class, found none of class " + c
                        + "; add images of it, or remove the class");
            }
        }
    }

    /**
     * Returns these rows with class weights.
     *
     * @param others weight of a row of each class, positive
     */
    public LabelledRows weighted(double[] others) {
        if (others.length != weights.length || !Arrays.stream(others).allMatch(w -> w > 0 && Double.isFinite(w))) {
            throw new IllegalArgumentException("expected a positive weight for each of " + weights.length
                    + " classes, found " + Arrays.toString(others));
        }
        return new LabelledRows(rows, labels, groups, duplicates, others);
    }

    /**
     * Returns these rows with near-duplicates, which stay in one fold of a cross-validation.
     *
     * @param others a number for each row, equal for all rows of a group and of its near-duplicates
     */
    public LabelledRows withDuplicates(int[] others) {
        if (others.length != labels.length) {
            throw new IllegalArgumentException(
                    "expected a number for each of " + labels.length + " rows, found " + others.length);
        }
        return new LabelledRows(rows, labels, groups, others, weights);
    }

    /** Copies some rows. */
    LabelledRows part(int[] which) {
        long[] places = Arrays.stream(which).asLongStream().toArray();
        Tensor index = Tensors.ofLongs(places, Shape.of(places.length)).to(rows.device());
        int[] someLabels = Arrays.stream(which).map(i -> labels[i]).toArray();
        int[] someGroups = Arrays.stream(which).map(i -> groups[i]).toArray();
        int[] someDuplicates = Arrays.stream(which).map(i -> duplicates[i]).toArray();
        return new LabelledRows(rows.select(0, index), someLabels, someGroups, someDuplicates, weights);
    }

    /** Returns the rows {@code [n, d]}. */
    public Tensor rows() {
        return rows;
    }

    /** Returns the number of rows n. */
    public int count() {
        return labels.length;
    }

    /** Returns the length d of a row. */
    public long size() {
        return rows.size(1);
    }

    /** Returns the number of classes k. */
    public int classes() {
        return weights.length;
    }

    int label(int row) {
        return labels[row];
    }

    int group(int row) {
        return groups[row];
    }

    /** Returns a number that near-duplicates share; without near-duplicates the group. */
    int duplicate(int row) {
        return duplicates[row];
    }

    /** Returns the number of rows of a class. */
    int count(int label) {
        return counts[label];
    }

    /** Returns the weight of a row of a class. */
    double weight(int label) {
        return weights[label];
    }
}
