package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
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
    private final int[] groups;
    private final double temperature;
    /** Rows by group, in ascending order of group numbers. */
    private final List<int[]> members;

    private CrossValidation(int folds, double[][] logits, int[] labels, int[] groups) {
        this.folds = folds;
        this.logits = logits;
        this.labels = labels;
        this.groups = groups;
        TreeMap<Integer, List<Integer>> byGroup = new TreeMap<>();
        for (int i = 0; i < groups.length; i++) {
            byGroup.computeIfAbsent(groups[i], _ -> new ArrayList<>()).add(i);
        }
        this.members = byGroup.values().stream()
                .map(rows -> rows.stream().mapToInt(Integer::intValue).toArray())
                .toList();
        this.temperature = fitTemperature().orElse(1);
    }

    /**
     * Creates a cross-validation from scores that a solver has computed.
     *
     * @param logits {@code [n][k]}, before the temperature
     */
    static CrossValidation of(LabelledRows rows, int folds, double[][] logits) {
        int[] labels = new int[rows.count()];
        int[] groups = new int[rows.count()];
        Arrays.setAll(labels, rows::label);
        Arrays.setAll(groups, rows::group);
        return new CrossValidation(folds, logits, labels, groups);
    }

    /**
     * Runs a solver once for each fold.
     *
     * @param fit solves for a part of the rows
     */
    static CrossValidation of(
            LabelledRows rows, GroupFolds folds, Function<LabelledRows, LinearModel> fit, SolverListener watch) {
        double[][] logits = new double[rows.count()][];
        for (int fold = 0; fold < folds.folds(); fold++) {
            watch.at("cross-validation", fold, folds.folds());
            try (Scope _ = Scope.open()) {
                LinearModel model = fit.apply(rows.part(folds.rows(fold, false)));
                int[] tested = folds.rows(fold, true);
                Tensor scores = rows.part(tested)
                        .rows()
                        .matmul(model.weight().transpose())
                        .add(model.bias());
                double[] flat = scores.to(Device.CPU).toDoubles();
                for (int i = 0; i < tested.length; i++) {
                    logits[tested[i]] = Arrays.copyOfRange(flat, i * rows.classes(), (i + 1) * rows.classes());
                }
            }
        }
        return of(rows, folds.folds(), logits);
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
        return new SoftmaxTemperature(centred, targets).fit();
    }

    /** Returns the number of folds, at least 2. */
    public int folds() {
        return folds;
    }

    /** Returns the fitted softmax temperature T; 1 if the scores are uninformative. */
    public double temperature() {
        return temperature;
    }

    /** Returns the out-of-fold logits {@code [n][k]}, divided by the temperature. */
    public double[][] logits() {
        return Arrays.stream(logits)
                .map(row -> Arrays.stream(row).map(z -> z / temperature).toArray())
                .toArray(double[][]::new);
    }

    /** Returns the distinct groups in ascending order, the order of {@link #correct} and {@link #losses}. */
    public int[] groups() {
        return members.stream().mapToInt(rows -> groups[rows[0]]).toArray();
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

    /** Returns whether each group is classified correctly, in the order of {@link #groups}. */
    public boolean[] correct() {
        boolean[] correct = new boolean[members.size()];
        for (int g = 0; g < correct.length; g++) {
            double[] logs = logProbabilities(members.get(g));
            int top = 0;
            for (int c = 1; c < logs.length; c++) {
                top = logs[c] > logs[top] ? c : top;
            }
            correct[g] = top == labels[members.get(g)[0]];
        }
        return correct;
    }

    /** Returns {@code −log p} of each group's class, in the order of {@link #groups}. */
    public double[] losses() {
        double[] losses = new double[members.size()];
        Arrays.setAll(losses, g -> -logProbabilities(members.get(g))[labels[members.get(g)[0]]]);
        return losses;
    }

    /** Returns the fraction of correctly classified groups. */
    public double accuracy() {
        int right = 0;
        for (boolean correct : correct()) {
            right += correct ? 1 : 0;
        }
        return (double) right / members.size();
    }

    /** Returns the mean of {@link #losses}. */
    public double logLoss() {
        return Arrays.stream(losses()).average().orElse(0);
    }
}
