package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;

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

    private LabelledRows(Tensor rows, int[] labels, int[] groups, int[] duplicates, double[] weights) {
        this.rows = rows;
        this.labels = labels;
        this.groups = groups;
        this.duplicates = duplicates;
        this.weights = weights;
    }

    /**
     * Creates rows of equal weight.
     *
     * @param rows {@code [n, d]}, float32
     * @param classes number of classes k; each must have a row
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
        if (!rows.allFinite()) {
            throw new IllegalArgumentException("expected finite rows, found NaN or infinity: check"
                    + " for a logarithm or root of 0 without a floor");
        }
        double[] weights = new double[classes];
        Arrays.fill(weights, 1);
        return new LabelledRows(rows, labels.clone(), groups.clone(), groups.clone(), weights);
    }

    public LabelledRows weighted(double[] others) {
        if (others.length != weights.length || !Arrays.stream(others).allMatch(w -> w > 0 && Double.isFinite(w))) {
            throw new IllegalArgumentException("expected a positive weight for each of " + weights.length
                    + " classes, found " + Arrays.toString(others));
        }
        return new LabelledRows(rows, labels, groups, duplicates, others.clone());
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
        return new LabelledRows(rows, labels, groups, others.clone(), weights);
    }

    LabelledRows part(int[] which) {
        Tensor index = CentredRows.index(which, rows.device());
        return new LabelledRows(
                rows.select(0, index), some(labels, which), some(groups, which), some(duplicates, which), weights);
    }

    private static int[] some(int[] values, int[] which) {
        return Arrays.stream(which).map(i -> values[i]).toArray();
    }

    /** Returns the indices of the rows of each group, in ascending order of group numbers. */
    List<int[]> members() {
        return members(groups.length, i -> groups[i]);
    }

    /** Returns the indices below a count by their group, in ascending order of group numbers. */
    static List<int[]> members(int count, IntUnaryOperator groupOf) {
        TreeMap<Integer, List<Integer>> members = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            members.computeIfAbsent(groupOf.applyAsInt(i), _ -> new ArrayList<>())
                    .add(i);
        }
        return members.values().stream()
                .map(all -> all.stream().mapToInt(Integer::intValue).toArray())
                .toList();
    }

    public Tensor rows() {
        return rows;
    }

    public int count() {
        return labels.length;
    }

    public long size() {
        return rows.size(1);
    }

    public int classes() {
        return weights.length;
    }

    int label(int row) {
        return labels[row];
    }

    int[] labels() {
        return labels.clone();
    }

    int group(int row) {
        return groups[row];
    }

    /** Returns a number that near-duplicates share; without near-duplicates the group. */
    int duplicate(int row) {
        return duplicates[row];
    }

    int count(int label) {
        return (int) Arrays.stream(labels).filter(one -> one == label).count();
    }

    double weight(int label) {
        return weights[label];
    }
}
