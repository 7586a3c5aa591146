package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * Out-of-fold scores of a linear classifier: each row is scored by a classifier that saw no row of its group.
 *
 * <p>A softmax temperature is fitted on them with Platt's smoothed targets, {@code 1 − ε} for the label and {@code ε/(k − 1)}
 * for each other class with {@code ε = 1/(n + 2)}, so that it is finite where every row is right (Platt, Probabilistic
 * Outputs for Support Vector Machines, 1999). Accuracy and log loss are those of groups: the probability of a group is the
 * mean of those of its rows, as that of an image is the mean over its crops.
 */
public final class CrossValidation {
    private final int folds;
    private final double[][] logits;
    private final int[] labels;
    private final double temperature;
    private final List<int[]> members;

    /** @param logits {@code [n][k]}, before the temperature */
    CrossValidation(LabelledRows rows, int folds, double[][] logits) {
        this.folds = folds;
        this.logits = logits;
        this.labels = rows.labels();
        this.members = rows.members();
        this.temperature = fitTemperature().orElse(1);
    }

    static CrossValidation of(LabelledRows rows, GroupFolds folds, SolverListener watch, GroupFolds.FoldScores scores) {
        return new CrossValidation(rows, folds.count(), folds.outOfFold("cross-validation", watch, scores));
    }

    static CrossValidation of(LabelledRows rows, GroupFolds folds, SolverListener watch, LinearSolver solver) {
        return of(rows, folds, watch, (trained, tested) -> {
            LinearModel model = solver.fit(rows.part(trained), SolverListener.NONE);
            Tensor scores = rows.part(tested).rows().matmul(model.weight().transpose());
            return scores.add(model.bias()).to(Device.CPU).toDoubles();
        });
    }

    private OptionalDouble fitTemperature() {
        double epsilon = 1.0 / (labels.length + 2);
        List<double[]> centred = new ArrayList<>();
        double[] targets = new double[labels.length];
        for (int i = 0; i < labels.length; i++) {
            double max = Arrays.stream(logits[i]).max().orElseThrow();
            double[] row = Arrays.stream(logits[i]).map(z -> z - max).toArray();
            double others = Arrays.stream(row).sum() - row[labels[i]];
            targets[i] = (1 - epsilon) * row[labels[i]] + epsilon * others / (row.length - 1);
            centred.add(row);
        }
        return SoftmaxTemperature.fit(centred, targets, 0);
    }

    public int folds() {
        return folds;
    }

    /** Returns the fitted softmax temperature T; 1 if the scores are uninformative. */
    public double temperature() {
        return temperature;
    }

    /** Returns the logits {@code [n][k]}, divided by the temperature. */
    double[][] logits() {
        return Arrays.stream(logits)
                .map(row -> Arrays.stream(row).map(z -> z / temperature).toArray())
                .toArray(double[][]::new);
    }

    /** Mean log probability of each class over the rows of a group: {@code log mean_i softmax(z_i / T)}. */
    private double[] logProbabilities(int[] rows) {
        double[] mean = new double[logits[rows[0]].length];
        for (int i : rows) {
            double max = Arrays.stream(logits[i]).max().orElseThrow();
            double[] weights = Arrays.stream(logits[i])
                    .map(z -> StrictMath.exp((z - max) / temperature))
                    .toArray();
            double total = Arrays.stream(weights).sum();
            for (int c = 0; c < mean.length; c++) {
                mean[c] += weights[c] / total / rows.length;
            }
        }
        return Arrays.stream(mean)
                .map(p -> StrictMath.log(Math.max(p, Double.MIN_NORMAL)))
                .toArray();
    }

    /** Returns the log probabilities of each group, in ascending order of group numbers. */
    public List<double[]> logProbabilities() {
        return members.stream().map(this::logProbabilities).toList();
    }

    /** Returns whether each group is classified correctly, in ascending order of group numbers. */
    public boolean[] correct() {
        boolean[] correct = new boolean[members.size()];
        for (int g = 0; g < correct.length; g++) {
            correct[g] = top(logProbabilities(members.get(g))) == labels[members.get(g)[0]];
        }
        return correct;
    }

    /** Returns the index of the largest score, the first of equals. */
    static int top(double[] scores) {
        int top = 0;
        for (int c = 1; c < scores.length; c++) {
            top = scores[c] > scores[top] ? c : top;
        }
        return top;
    }

    public double accuracy() {
        int right = 0;
        for (boolean one : correct()) {
            right += one ? 1 : 0;
        }
        return (double) right / members.size();
    }

    /**
     * Returns the standard error of the difference of two accuracies on the same n groups: with the shares p and q that only one and only
     * the other classifies correctly, {@code √((p + q − (p − q)²)/n)}.
     */
    public static double pairedError(boolean[] one, boolean[] other) {
        double n = one.length;
        double only = 0;
        double otherOnly = 0;
        for (int i = 0; i < one.length; i++) {
            only += one[i] && !other[i] ? 1 / n : 0;
            otherOnly += other[i] && !one[i] ? 1 / n : 0;
        }
        double gain = only - otherOnly;
        return Math.sqrt(Math.max(0, only + otherOnly - gain * gain) / n);
    }

    /** Returns the mean of {@code −log p} of each group's class. */
    public double logLoss() {
        return members.stream()
                .mapToDouble(rows -> -logProbabilities(rows)[labels[rows[0]]])
                .average()
                .orElse(0);
    }
}
