package org.gramian.linear;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.gramian.basis.NamedArguments;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Linear support vector machine, one class against the rest, with squared hinge loss: for each class
 *
 * <pre>{@code min_w  ½‖w‖² + C Σ_i s_i max(0, 1 − y_i w·z_i)²,   z_i = ((x_i − m)/s, 1)}</pre>
 *
 * <p>with the mean m of the rows, {@code s² = mean ‖x − m‖²} and the weight s_i of the row's class, so that C does not
 * depend on the scale of the descriptors. The bias is the weight of the constant 1 and regularized too, which matters
 * little since the rows are centred. Solved by {@link DualDescent} to a relative duality gap of {@value #TOLERANCE}, which
 * the model reports.
 *
 * <p>An unset C is chosen from 0.01, 0.1, 1, 10 and 100 by five-fold cross-validation over groups of rows: the cost with the
 * highest weighted out-of-fold accuracy, the smallest of equals. There are fewer folds if a class has fewer groups, and C is 1
 * if a class has only one.
 *
 * <p>Memory: a copy of the rows if {@code 2d ≤ n}, else {@code n²} numbers.
 *
 * @param c cost of a misclassification, positive; empty to choose it by cross-validation
 */
public record Svm(OptionalDouble c) implements LinearSolver {
    /** Accuracy changes slowly with C. */
    private static final double[] COSTS = {0.01, 0.1, 1, 10, 100};

    private static final double TOLERANCE = 1e-6;

    /** Predictions do not need the last digits of a solution. */
    private static final double SEARCH_TOLERANCE = 1e-2;

    public Svm {
        if (c.isPresent() && !(c.getAsDouble() > 0 && c.getAsDouble() <= Float.MAX_VALUE)) {
            throw new IllegalArgumentException("the argument C of svm must be a positive number or auto, found "
                    + NamedArguments.decimal(c.getAsDouble()));
        }
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        try (Scope scope = Scope.open()) {
            OneAgainstRest problems = new OneAgainstRest(rows, DualDescent.ScaledRows.of(rows), watch);
            GroupFolds folds = GroupFolds.of(rows);
            if (folds.count() < 2) {
                return problems.solve(c.orElse(1), folds.count()).keptBy(scope);
            }
            double[] costs = c.isPresent() ? new double[] {c.getAsDouble()} : COSTS;
            float[][][] scores = problems.outOfFold(costs, folds);
            double[] right = Arrays.stream(scores).mapToDouble(problems::right).toArray();
            int best = CrossValidation.top(right);
            LinearModel model = problems.solve(costs[best], folds.count());
            double[][] logits = new double[rows.count()][rows.classes()];
            for (int i = 0; i < logits.length; i++) {
                int row = i;
                Arrays.setAll(logits[i], label -> scores[best][label][row]);
            }
            return model.with(CrossValidation.of(rows, folds, logits)).keptBy(scope);
        }
    }

    /**
     * Problems of a linear SVM, one per class, solved by several threads in blocks of classes. Each has its own random
     * numbers, so that the number of threads does not matter.
     */
    record OneAgainstRest(LabelledRows rows, DualDescent.ScaledRows matrix, SolverListener watch) {
        /** Classes per block: their values for 2,000 rows fit into the L2 cache. */
        private static final int BLOCK = 8;

        private int blocks() {
            return Math.ceilDiv(rows.classes(), BLOCK);
        }

        private DualDescent begin(int block, int[] which) {
            int end = Math.min(rows.classes(), (block + 1) * BLOCK);
            return new DualDescent(matrix, which, rows.labels(), block * BLOCK, end, new SplittableRandom(block));
        }

        private double[] costs(double c) {
            return Arrays.stream(rows.labels())
                    .mapToDouble(label -> c * rows.weight(label))
                    .toArray();
        }

        /** Computes out-of-fold scores by cost, class and row; each cost, in ascending order, starts from the solution before. */
        float[][][] outOfFold(double[] costs, GroupFolds folds) {
            float[][][] scores = new float[costs.length][rows.classes()][rows.count()];
            String task = costs.length == 1 ? "cross-validation" : "cross-validation of C";
            all(task, blocks() * folds.count(), (number, eachPass) -> {
                int fold = number / blocks();
                int first = number % blocks() * BLOCK;
                DualDescent descent = begin(number % blocks(), folds.rows(fold, false));
                int[] tested = folds.rows(fold, true);
                for (int g = 0; g < costs.length; g++) {
                    descent.descend(costs(costs[g]), SEARCH_TOLERANCE, eachPass);
                    for (int row : tested) {
                        double[] values = descent.at(row);
                        for (int label = 0; label < values.length; label++) {
                            scores[g][first + label][row] = (float) values[label];
                        }
                    }
                }
            });
            return scores;
        }

        double right(float[][] scores) {
            double sum = 0;
            for (int i = 0; i < rows.count(); i++) {
                int top = 0;
                for (int label = 1; label < scores.length; label++) {
                    top = scores[label][i] > scores[top][i] ? label : top;
                }
                sum += top == rows.label(i) ? rows.weight(top) : 0;
            }
            return sum;
        }

        LinearModel solve(double c, int folds) {
            int n = rows.count();
            double[] costs = costs(c);
            int[] which = IntStream.range(0, n).toArray();
            double[] coefficients = new double[rows.classes() * n];
            double[] gaps = new double[rows.classes()];
            int[] passes = new int[rows.classes()];
            all("fitting svm", blocks(), (block, eachPass) -> {
                DualDescent descent = begin(block, which);
                DualDescent.Ending[] some = descent.descend(costs, TOLERANCE, eachPass);
                for (int i = 0; i < some.length; i++) {
                    int label = block * BLOCK + i;
                    gaps[label] = some[i].gap();
                    passes[label] = some[i].passes();
                    System.arraycopy(descent.coefficients(i), 0, coefficients, label * n, n);
                }
            });
            SequencedMap<String, Double> found = new LinkedHashMap<>();
            found.put("C", c);
            found.put("folds", (double) folds);
            found.put("gap", Arrays.stream(gaps).max().orElse(0));
            found.put("passes", (double) Arrays.stream(passes).max().orElse(0));
            CentredRows centred = matrix.centred();
            Tensor beta = Tensors.of(coefficients, Shape.of(rows.classes(), n), DType.F32)
                    .to(centred.rows().device());
            Tensor weight = centred.combined(beta).mulInPlace(1 / (matrix.scale() * matrix.scale()));
            double[] bias = new double[rows.classes()];
            Arrays.setAll(
                    bias,
                    label -> Arrays.stream(coefficients, label * n, (label + 1) * n)
                            .sum());
            return LinearModel.around(centred.centres(), weight, bias, found);
        }

        interface Problem {
            void solve(int number, Runnable eachPass);
        }

        /**
         * Solves all problems; the callback is never called concurrently.
         *
         * <p>An exception of a problem or the callback stops the others at their next pass and is rethrown when all have
         * ended: a parallel stream would not wait for them, and they read memory that the caller frees.
         */
        void all(String task, int problems, Problem problem) {
            AtomicInteger done = new AtomicInteger();
            AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
            Object one = new Object();
            Runnable eachPass = () -> {
                synchronized (one) {
                    if (failure.get() != null) {
                        throw new CancellationException("another problem failed");
                    }
                    try {
                        watch.at(task, done.get(), problems);
                    } catch (RuntimeException | Error thrown) {
                        failure.set(thrown); // before another thread calls the callback
                        throw thrown;
                    }
                }
            };
            IntConsumer work = number -> {
                if (failure.get() != null) {
                    return;
                }
                try {
                    problem.solve(number, eachPass);
                    done.incrementAndGet();
                    eachPass.run();
                } catch (RuntimeException | Error thrown) {
                    failure.compareAndSet(null, thrown);
                }
            };
            IntStream.range(0, problems).parallel().forEach(work);
            switch (failure.get()) {
                case Error error -> throw error;
                case RuntimeException exception -> throw exception;
                case null, default -> {}
            }
        }
    }
}
