package org.gramian.linear;

import java.util.Arrays;
import java.util.List;

/**
 * Cross-validates linear SVMs: folds of whole groups, every class in each. Of a grid of costs it chooses the one with the
 * largest (weighted) part of correct out-of-fold predictions, the smallest of several; its scores calibrate the model.
 */
final class CostSearch {
    /** Steps of 10: accuracy changes slowly with C. */
    static final List<Double> GRID = List.of(0.01, 0.1, 1.0, 10.0, 100.0);

    /** Predictions need less than the last digits of a solution. */
    private static final double TOLERANCE = 1e-2;

    private final OneAgainstRest problems;
    private final GroupFolds folds;
    private final List<Double> grid;
    /** By cost, class and row: out-of-fold scores. */
    private final float[][][] scores;

    private int best;

    /** @param grid costs in ascending order: each starts from the solution of the one before */
    CostSearch(OneAgainstRest problems, List<Double> grid) {
        this.problems = problems;
        this.folds = GroupFolds.of(problems.rows(), GroupFolds.USUAL);
        this.grid = List.copyOf(grid);
        this.scores = new float[grid.size()][problems.rows().classes()]
                [problems.rows().count()];
    }

    /** Number of folds; with fewer than 2 there is nothing to choose by. */
    int folds() {
        return folds.folds();
    }

    /** Runs the cross-validation and chooses the cost; at least 2 folds. */
    double choose(String task) {
        int blocks = problems.blocks();
        problems.all(task, blocks * folds(), (number, eachPass) -> {
            int fold = number / blocks;
            int first = number % blocks * OneAgainstRest.BLOCK;
            DualDescent descent = problems.begin(number % blocks, folds.rows(fold, false));
            int[] tested = folds.rows(fold, true);
            for (int g = 0; g < grid.size(); g++) {
                descent.descend(problems.costs(grid.get(g)), TOLERANCE, eachPass);
                for (int row : tested) {
                    double[] values = descent.at(row);
                    for (int c = 0; c < values.length; c++) {
                        scores[g][first + c][row] = (float) values[c];
                    }
                }
            }
        });
        double[] right = new double[grid.size()];
        Arrays.setAll(right, this::right);
        best = 0;
        for (int g = 1; g < right.length; g++) {
            best = right[g] > right[best] ? g : best;
        }
        return grid.get(best);
    }

    /** Out-of-fold scores at the chosen cost. */
    CrossValidation crossValidation() {
        double[][] logits = new double[problems.rows().count()][problems.rows().classes()];
        for (int i = 0; i < logits.length; i++) {
            int row = i;
            Arrays.setAll(logits[i], c -> scores[best][c][row]);
        }
        return CrossValidation.of(problems.rows(), folds(), logits);
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
