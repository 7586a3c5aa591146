package org.gramian.linear;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
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
 * little since the rows are centred. Solved by dual coordinate descent to a relative duality gap of {@value #TOLERANCE}
 * (Hsieh et al., "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008); the model reports the gap.
 *
 * <p>An unset C is chosen from 0.01, 0.1, 1, 10 and 100 by five-fold cross-validation over groups of rows. There are
 * fewer folds if a class has fewer groups, and C is 1 if a class has only one.
 *
 * <p>Memory: a copy of the rows if {@code 2d ≤ n}, else {@code n²} numbers.
 *
 * @param c cost of a misclassification, positive; empty to choose it by cross-validation
 */
public record Svm(OptionalDouble c) implements LinearSolver {
    static final String WORD = "svm";
    static final String FORM =
            "svm[:C=NUMBER|auto]: linear support vector machines, one class against the rest; auto: C by"
                    + " cross-validation";

    private static final double TOLERANCE = 1e-6;

    public Svm {
        CostGrid.requirePositive(WORD, c);
    }

    @Override
    public String text() {
        return SolverText.write(WORD, "C", c);
    }

    @Override
    public void requireRoom(long rows, long size) {
        MemoryBound.requireRows(WORD, rows, size);
        if (Features.usesProducts(rows, size)) {
            MemoryBound.requireSquare(WORD, rows, size, Features.MOST_PRODUCTS, Float.BYTES);
        }
    }

    @Override
    public long bytes(long rows, long size) {
        long matrix = Features.usesProducts(rows, size) ? rows * rows : rows * size;
        return Float.BYTES * (rows * size + 2 * matrix); // copy during the transfer to the CPU
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        try (Scope scope = Scope.open()) {
            OneAgainstRest problems = new OneAgainstRest(rows, Features.of(rows), watch);
            CostGrid grid = CostGrid.of(c, CostSearch.GRID);
            CostSearch search = new CostSearch(problems, grid.costs());
            boolean divided = search.folds() > 1;
            double chosen = divided ? search.choose(grid.task()) : grid.unchosen();
            LinearModel model = solve(problems, chosen, CostGrid.found(chosen, search.folds()));
            return (divided ? model.with(search.crossValidation()) : model).keptBy(scope);
        }
    }

    private static LinearModel solve(OneAgainstRest problems, double cost, SequencedMap<String, Double> found) {
        LabelledRows rows = problems.rows();
        int n = rows.count();
        double[] costs = problems.costs(cost);
        int[] all = IntStream.range(0, n).toArray();
        double[] coefficients = new double[rows.classes() * n];
        DualDescent.Ending[] endings = new DualDescent.Ending[rows.classes()];
        problems.all("fitting svm", problems.blocks(), (block, eachPass) -> {
            DualDescent descent = problems.begin(block, all);
            DualDescent.Ending[] some = descent.descend(costs, TOLERANCE, eachPass);
            for (int c = 0; c < some.length; c++) {
                int label = block * OneAgainstRest.BLOCK + c;
                endings[label] = some[c];
                System.arraycopy(descent.coefficients(c), 0, coefficients, label * n, n);
            }
        });
        found.put(
                "gap",
                Arrays.stream(endings)
                        .mapToDouble(DualDescent.Ending::gap)
                        .max()
                        .orElse(0));
        found.put("passes", (double) Arrays.stream(endings)
                .mapToInt(DualDescent.Ending::passes)
                .max()
                .orElse(0));
        return model(problems.features(), coefficients, rows.classes(), found);
    }

    /** Converts the solution from normalized to original units of the rows. */
    private static LinearModel model(
            Features features, double[] coefficients, int classes, SequencedMap<String, Double> found) {
        CentredRows centred = features.centred();
        int n = features.count();
        Tensor beta = Tensors.of(coefficients, Shape.of(classes, n), DType.F32).to(centred.device());
        Tensor weight = centred.combined(beta).mulInPlace(1 / (features.scale() * features.scale()));
        double[] bias = new double[classes];
        Arrays.setAll(
                bias,
                label -> Arrays.stream(coefficients, label * n, (label + 1) * n).sum());
        return LinearModel.around(centred.centres(), weight, bias, found);
    }

    /**
     * Chooses C by cross-validation: the cost with the highest weighted out-of-fold accuracy, the smallest of equals.
     * Its scores calibrate the model.
     */
    private static final class CostSearch {
        /** Steps of 10: accuracy changes slowly with C. */
        static final List<Double> GRID = List.of(0.01, 0.1, 1.0, 10.0, 100.0);

        /** Predictions do not need the last digits of a solution. */
        private static final double TOLERANCE = 1e-2;

        private final OneAgainstRest problems;
        private final GroupFolds folds;
        private final List<Double> grid;
        /** Out-of-fold scores by cost, class and row. */
        private final float[][][] scores;

        private int best;

        /** @param grid costs in ascending order: each starts from the solution of the one before */
        CostSearch(OneAgainstRest problems, List<Double> grid) {
            this.problems = problems;
            this.folds = GroupFolds.of(problems.rows(), GroupFolds.DEFAULT_COUNT);
            this.grid = List.copyOf(grid);
            this.scores = new float[grid.size()][problems.rows().classes()]
                    [problems.rows().count()];
        }

        /** Returns the number of folds; fewer than 2 allow no choice. */
        int folds() {
            return folds.folds();
        }

        /** Runs the cross-validation and returns the best cost; needs at least 2 folds. */
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

        /** Returns the out-of-fold scores at the chosen cost. */
        CrossValidation crossValidation() {
            double[][] logits =
                    new double[problems.rows().count()][problems.rows().classes()];
            for (int i = 0; i < logits.length; i++) {
                int row = i;
                Arrays.setAll(logits[i], c -> scores[best][c][row]);
            }
            return CrossValidation.of(problems.rows(), folds(), logits);
        }

        /** Returns the weight of the rows that a cost classifies correctly. */
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

    /**
     * Problems of a linear SVM, one per class, solved by several threads in blocks of classes. Each has its own random
     * numbers, so that the number of threads does not matter.
     *
     * @param rows training rows
     * @param features the same rows in the solver's form
     * @param watch progress callback
     */
    record OneAgainstRest(LabelledRows rows, Features features, SolverListener watch) {
        /** Classes per block: their values for 2,000 rows fit into the L2 cache. */
        static final int BLOCK = 8;

        /** Returns the number of blocks of classes. */
        int blocks() {
            return Math.ceilDiv(rows.classes(), BLOCK);
        }

        /** Creates the solver of a block, starting at 0. */
        DualDescent begin(int block, int[] which) {
            int[] labels = new int[rows.count()];
            Arrays.setAll(labels, rows::label);
            int end = Math.min(rows.classes(), (block + 1) * BLOCK);
            return new DualDescent(features, which, labels, block * BLOCK, end, new SplittableRandom(block));
        }

        /** Returns the cost of every row for a C. */
        double[] costs(double c) {
            double[] costs = new double[rows.count()];
            Arrays.setAll(costs, i -> c * rows.weight(rows.label(i)));
            return costs;
        }

        /** Work on one problem. */
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
            Throwable first = failure.get();
            if (first instanceof Error error) {
                throw error;
            }
            if (first instanceof RuntimeException exception) {
                throw exception;
            }
        }
    }
}
