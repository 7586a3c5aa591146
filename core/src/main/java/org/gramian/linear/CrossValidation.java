package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * Out-of-fold scores of a linear classifier: each row is scored by a classifier that saw no row of its group.
 *
 * <p>A softmax temperature is fitted on them with Platt's smoothed targets, {@code 1 − ε} for the label and {@code ε/(k − 1)}
 * for each other class with {@code ε = 1/(n + 2)}, so that it is finite where every row is right (Platt, Probabilistic
 * Outputs for Support Vector Machines, 1999). {@link #scaled} adds a scale for each class where that pays. Accuracy and log loss
 * are those of groups: the probability of a group is the mean of those of its rows, as that of an image is the mean over its
 * crops.
 */
public final class CrossValidation {
    /** Scores to which the scales of classes are fitted: seconds. */
    private static final int MAX_SCORES = 5_000_000;

    private final LabelledRows rows;
    private final GroupFolds folds;
    private final double[][] logits;
    private final double temperature;
    private final Optional<ClassScaling> scaling;

    /** @param logits {@code [n][k]}, calibrated */
    private CrossValidation(
            LabelledRows rows,
            GroupFolds folds,
            double[][] logits,
            double temperature,
            Optional<ClassScaling> scaling) {
        this.rows = rows;
        this.folds = folds;
        this.logits = logits;
        this.temperature = temperature;
        this.scaling = scaling;
    }

    /** @param logits {@code [n][k]}, before the temperature */
    static CrossValidation of(LabelledRows rows, GroupFolds folds, double[][] logits) {
        double temperature = temperature(rows, logits).orElse(1);
        double[][] divided = Arrays.stream(logits)
                .map(row -> Arrays.stream(row).map(z -> z / temperature).toArray())
                .toArray(double[][]::new);
        return new CrossValidation(rows, folds, divided, temperature, Optional.empty());
    }

    static CrossValidation of(LabelledRows rows, GroupFolds folds, SolverListener watch, GroupFolds.FoldScores scores) {
        return of(rows, folds, folds.outOfFold("cross-validation", watch, scores));
    }

    static CrossValidation of(LabelledRows rows, GroupFolds folds, SolverListener watch, LinearSolver solver) {
        return of(rows, folds, watch, (trained, tested) -> {
            LinearModel model = solver.fit(rows.part(trained), SolverListener.NONE);
            Tensor scores = rows.part(tested).rows().matmul(model.weight().transpose());
            return scores.add(model.bias()).to(Device.CPU).toDoubles();
        });
    }

    private static OptionalDouble temperature(LabelledRows rows, double[][] logits) {
        int[] labels = rows.labels();
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

    /**
     * Returns these scores with a scale for each class, if that lowers the log loss, weighted by class, by more than its standard error: the scores of a
     * fold are scaled by a fit to the other folds, so that the comparison does not flatter.
     */
    CrossValidation scaled(SolverListener watch) {
        double[][] crossed = new double[logits.length][];
        for (int fold = 0; fold < folds.count(); fold++) {
            watch.at("scales of classes", fold, folds.count());
            ClassScaling others = fitted(folds.rows(fold, false));
            for (int i : folds.rows(fold, true)) {
                crossed[i] = others.apply(logits[i]);
            }
        }
        CrossValidation tried = new CrossValidation(rows, folds, crossed, temperature, Optional.empty());
        double[] gains = rows.members().stream()
                .mapToDouble(group -> weight(group) * (tried.logProbability(group) - logProbability(group)))
                .toArray();
        double mean = Arrays.stream(gains).average().orElse(0);
        double squares =
                Arrays.stream(gains).map(gain -> (gain - mean) * (gain - mean)).sum();
        if (!(mean > Math.sqrt(squares) / gains.length)) { // also for NaN
            return this;
        }
        ClassScaling all = fitted(IntStream.range(0, logits.length).toArray());
        return new CrossValidation(rows, folds, crossed, temperature, Optional.of(all));
    }

    /** Fits to some rows, to every second or third of very many: two numbers per class need no more. A group counts as one row. */
    private ClassScaling fitted(int[] which) {
        int stride = Math.toIntExact((long) which.length * rows.classes() / MAX_SCORES + 1);
        int[] some = IntStream.range(0, which.length)
                .filter(i -> i % stride == 0)
                .map(i -> which[i])
                .toArray();
        double[] weights = new double[logits.length];
        for (int[] group : rows.members()) {
            for (int i : group) {
                weights[i] = weight(group) / group.length;
            }
        }
        return ClassScaling.fit(
                Arrays.stream(some).mapToObj(i -> logits[i]).toArray(double[][]::new),
                Arrays.stream(some).map(rows::label).toArray(),
                Arrays.stream(some).mapToDouble(i -> weights[i]).toArray());
    }

    private double weight(int[] group) {
        return rows.weight(rows.label(group[0]));
    }

    public int folds() {
        return folds.count();
    }

    /** Returns the fitted softmax temperature T; 1 if the scores are uninformative. */
    public double temperature() {
        return temperature;
    }

    /** Returns the scale of each class; empty if one temperature serves as well. */
    Optional<ClassScaling> scaling() {
        return scaling;
    }

    /** Returns the calibrated logits {@code [n][k]}. */
    double[][] logits() {
        return logits.clone();
    }

    /** Log of the mean probability of each class over the rows of a group: {@code log mean_i softmax(z_i)}. */
    private double[] logProbabilities(int[] group) {
        double[] mean = new double[rows.classes()];
        for (int i : group) {
            double max = Arrays.stream(logits[i]).max().orElseThrow();
            double[] weights =
                    Arrays.stream(logits[i]).map(z -> StrictMath.exp(z - max)).toArray();
            double total = Arrays.stream(weights).sum();
            for (int c = 0; c < mean.length; c++) {
                mean[c] += weights[c] / total / group.length;
            }
        }
        return Arrays.stream(mean)
                .map(p -> StrictMath.log(Math.max(p, Double.MIN_NORMAL)))
                .toArray();
    }

    /** Returns the log probabilities of each group, in ascending order of group numbers. */
    public List<double[]> logProbabilities() {
        return rows.members().stream().map(this::logProbabilities).toList();
    }

    /** Returns whether each group is classified correctly, in ascending order of group numbers. */
    public boolean[] correct() {
        List<int[]> groups = rows.members();
        boolean[] correct = new boolean[groups.size()];
        for (int g = 0; g < correct.length; g++) {
            correct[g] = top(logProbabilities(groups.get(g))) == rows.label(groups.get(g)[0]);
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
        return share(correct());
    }

    public static double share(boolean[] correct) {
        int right = 0;
        for (boolean one : correct) {
            right += one ? 1 : 0;
        }
        return (double) right / correct.length;
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

    /** Returns {@code log p} of a group's class. */
    private double logProbability(int[] group) {
        return logProbabilities(group)[rows.label(group[0])];
    }

    /** Returns the mean of {@code −log p} of each group's class. */
    public double logLoss() {
        return -rows.members().stream()
                .mapToDouble(this::logProbability)
                .average()
                .orElse(0);
    }
}
