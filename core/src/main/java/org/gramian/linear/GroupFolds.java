package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;

/**
 * Cross-validation folds: all rows of a group in one fold, every class in every fold. Near-duplicates share a fold too,
 * unless a class consists of near-duplicates only.
 *
 * <p>The fold of a group depends on the numbers of the groups, not on the order of the rows.
 *
 * @param count number of folds; fewer than 2 if a class has too few groups
 * @param foldOfRow index of the fold of each row
 */
record GroupFolds(int count, List<Integer> foldOfRow) {
    private static final int MAX_FOLDS = 5;

    /** Up to as many rows, twice the folds cost seconds. */
    private static final int FEW_ROWS = 4_000;

    GroupFolds {
        foldOfRow = List.copyOf(foldOfRow);
    }

    /** Creates at most five folds, no more than the smallest class has groups. */
    static GroupFolds of(LabelledRows rows) {
        return of(rows, MAX_FOLDS);
    }

    /**
     * Creates twice as many folds where rows are few: a classifier of four fifths of them is much less sure than the one that
     * the scores calibrate.
     */
    static GroupFolds toCalibrate(LabelledRows rows) {
        return of(rows, rows.count() > FEW_ROWS ? MAX_FOLDS : 2 * MAX_FOLDS);
    }

    private static GroupFolds of(LabelledRows rows, int most) {
        GroupFolds together = of(rows, most, rows::duplicate);
        return together.count < 2 ? of(rows, most, rows::group) : together;
    }

    private static GroupFolds of(LabelledRows rows, int most, IntUnaryOperator groupOf) {
        TreeMap<Integer, Integer> labelOfGroup = new TreeMap<>(); // the lowest where there are several
        for (int i = 0; i < rows.count(); i++) {
            labelOfGroup.merge(groupOf.applyAsInt(i), rows.label(i), Math::min);
        }
        List<List<Integer>> classes = new ArrayList<>();
        for (int c = 0; c < rows.classes(); c++) {
            classes.add(new ArrayList<>());
        }
        labelOfGroup.forEach((group, label) -> classes.get(label).add(group));
        int folds = Math.min(most, classes.stream().mapToInt(List::size).min().orElse(0));
        if (folds < 2) {
            return new GroupFolds(folds, Collections.nCopies(rows.count(), 0));
        }
        TreeMap<Integer, Integer> foldOfGroup = new TreeMap<>();
        int next = 0;
        Random order = Random.from(new SplittableRandom(0));
        for (List<Integer> groups : classes) {
            Collections.shuffle(groups, order);
            for (int group : groups) {
                foldOfGroup.put(group, next++ % folds);
            }
        }
        return new GroupFolds(
                folds,
                IntStream.range(0, rows.count())
                        .map(i -> foldOfGroup.get(groupOf.applyAsInt(i)))
                        .boxed()
                        .toList());
    }

    /** Returns the rows of a fold, or all others. */
    int[] rows(int fold, boolean inside) {
        return IntStream.range(0, foldOfRow.size())
                .filter(i -> (foldOfRow.get(i) == fold) == inside)
                .toArray();
    }

    @FunctionalInterface
    interface FoldScores {
        /** Returns k values of each tested row, row by row. */
        double[] of(int[] trained, int[] tested);
    }

    /**
     * Computes k values for each row from a fit on the other folds.
     *
     * @return {@code [n][k]}
     */
    double[][] outOfFold(String task, SolverListener watch, FoldScores scores) {
        double[][] values = new double[foldOfRow.size()][];
        for (int fold = 0; fold < count; fold++) {
            watch.at(task, fold, count);
            try (Scope _ = Scope.open()) {
                int[] tested = rows(fold, true);
                double[] found = scores.of(rows(fold, false), tested);
                int each = found.length / tested.length;
                for (int i = 0; i < tested.length; i++) {
                    values[tested[i]] = Arrays.copyOfRange(found, i * each, (i + 1) * each);
                }
            }
        }
        return values;
    }
}
