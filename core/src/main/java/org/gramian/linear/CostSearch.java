package org.gramian.linear;

import java.util.Arrays;
import java.util.List;

/**
 * Chooses C by cross-validation inside the rows: folds of whole groups, every class in each, and of the costs of a grid the
 * one with the largest (weighted) part of rows that the others' classifier gets right; of several the smallest.
 */
final class CostSearch {
    /** Steps of 10: accuracy changes slowly with C. */
    static final List<Double> GRID = List.of(0.01, 0.1, 1.0, 10.0, 100.0);

    /** What holds where no class can be divided. */
    static final double USUAL = 1;

    private static final int MOST_FOLDS = 5;

    /** Decisions need less than the last digits of a solution. */
    private static final double TOLERANCE = 1e-2;

    private final OneAgainstRest problems;
    private final GroupFolds folds;
    /** By cost, class and row: what the classifier of the other folds says. */
    private final float[][][] scores;

    CostSearch(OneAgainstRest problems) {
        this.problems = problems;
        this.folds = GroupFolds.of(problems.rows(), MOST_FOLDS);
        this.scores = new float[GRID.size()][problems.rows().classes()]
                [problems.rows().count()];
    }

    /** Folds that it is chosen by; fewer than 2 mean that there is nothing to choose by. */
    int folds() {
        return folds.folds();
    }

    double choose() {
        if (folds() < 2) {
            return USUAL;
        }
        int classes = problems.rows().classes();
        problems.all("choosing C", classes * folds(), (number, eachPass) -> {
            int fold = number / classes;
            int label = number % classes;
            DualDescent descent = problems.begin(label, folds.rows(fold, false));
            int[] judged = folds.rows(fold, true);
            for (int g = 0; g < GRID.size(); g++) {
                descent.descend(problems.costs(GRID.get(g)), TOLERANCE, eachPass); // from the one before: nearer than 0
                for (int row : judged) {
                    scores[g][label][row] = (float) descent.at(row);
                }
            }
        });
        double[] right = new double[GRID.size()];
        Arrays.setAll(right, this::right);
        int best = 0;
        for (int g = 1; g < right.length; g++) {
            best = right[g] > right[best] ? g : best;
        }
        return GRID.get(best);
    }

    /** Weight of the rows that a cost gets right. */
    private double right(int g) {
        double sum = 0;
        for (int i = 0; i < problems.rows().count(); i++) {
            int top = 0;
            for (int c = 1; c < scores[g].length; c++) {
                top = scores[g][c][i] > scores[g][top][i] ? c : top;
            }
            int label = problems.rows().label(i);
            sum += top == label ? problems.rows().weight(label) : 0;
        }
        return sum;
    }
}
