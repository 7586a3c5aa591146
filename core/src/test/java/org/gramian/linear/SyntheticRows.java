package org.gramian.linear;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Rows of Gaussian classes around random means.
 *
 * @param values row by row
 * @param labels class of each
 * @param groups group of each
 * @param classes their number
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record SyntheticRows(double[][] values, int[] labels, int[] groups, int classes) {
    /** Every row a group of its own, every class among them. */
    static SyntheticRows of(SplittableRandom random, int count, int size, int classes) {
        return of(random, count, size, classes, 1.5);
    }

    static SyntheticRows of(SplittableRandom random, int count, int size, int classes, double apart) {
        double[][] means = new double[classes][size];
        for (double[] mean : means) {
            Arrays.setAll(mean, _ -> apart * random.nextGaussian());
        }
        double[][] values = new double[count][size];
        int[] labels = new int[count];
        int[] groups = new int[count];
        for (int i = 0; i < count; i++) {
            labels[i] = i < classes ? i : random.nextInt(classes);
            groups[i] = i;
            double[] mean = means[labels[i]];
            Arrays.setAll(values[i], j -> (float) (3 + mean[j] + random.nextGaussian()));
        }
        return new SyntheticRows(values, labels, groups, classes);
    }

    /** Each row several times, in a group of its own. */
    SyntheticRows repeated(int times) {
        int n = times * count();
        return new SyntheticRows(
                IntStream.range(0, n).mapToObj(i -> values[i / times]).toArray(double[][]::new),
                IntStream.range(0, n).map(i -> labels[i / times]).toArray(),
                IntStream.range(0, n).map(i -> i / times).toArray(),
                classes);
    }

    LinearModel fit(String solver) {
        return LinearSolver.parse(solver).fit(rows(), LinearSolver.SolverListener.NONE);
    }

    LinearModel solve(String solver) {
        return LinearSolver.parse(solver).solve(rows(), LinearSolver.SolverListener.NONE);
    }

    /** Mean of each column. */
    double[] mean() {
        double[] mean = new double[size()];
        Arrays.setAll(
                mean,
                j -> Arrays.stream(values).mapToDouble(row -> row[j]).average().orElseThrow());
        return mean;
    }

    /** Root of the mean squared distance to the mean. */
    double scale() {
        double[] mean = mean();
        double square = 0;
        for (double[] row : values) {
            for (int j = 0; j < mean.length; j++) {
                square += (row[j] - mean[j]) * (row[j] - mean[j]) / count();
            }
        }
        return Math.sqrt(square);
    }

    int size() {
        return values[0].length;
    }

    int count() {
        return values.length;
    }

    /** To be closed by a scope. */
    LabelledRows rows() {
        return LabelledRows.of(tensor(), labels, groups, classes);
    }

    Tensor tensor() {
        double[] flat = Arrays.stream(values).flatMapToDouble(Arrays::stream).toArray();
        return Tensors.of(flat, Shape.of(count(), size()), DType.F32);
    }

    /** The same rows in another order. */
    SyntheticRows permuted(SplittableRandom random) {
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, count()).boxed().toList());
        Collections.shuffle(order, Random.from(random));
        return new SyntheticRows(
                order.stream().map(i -> values[i]).toArray(double[][]::new),
                order.stream().mapToInt(i -> labels[i]).toArray(),
                order.stream().mapToInt(i -> groups[i]).toArray(),
                classes);
    }

    /** {@code a·x + b} of every number, which is rounded to single precision. */
    SyntheticRows moved(double a, double b) {
        double[][] others = Arrays.stream(values)
                .map(row -> Arrays.stream(row).map(x -> (float) (a * x + b)).toArray())
                .toArray(double[][]::new);
        return new SyntheticRows(others, labels, groups, classes);
    }

    /** Class with the highest score of each row. */
    int[] answers(LinearModel model) {
        double[][] scores = scores(model);
        return Arrays.stream(scores).mapToInt(CrossValidation::top).toArray();
    }

    /** {@code v·Wᵀ + b} of each row, in double precision. */
    double[][] scores(LinearModel model) {
        double[] weight = model.weight().toDoubles();
        double[] bias = model.bias().toDoubles();
        double[][] scores = new double[count()][classes];
        for (int i = 0; i < count(); i++) {
            for (int c = 0; c < classes; c++) {
                scores[i][c] = bias[c];
                for (int j = 0; j < size(); j++) {
                    scores[i][c] += weight[c * size() + j] * values[i][j];
                }
            }
        }
        return scores;
    }
}
