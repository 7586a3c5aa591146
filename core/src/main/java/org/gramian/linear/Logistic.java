package org.gramian.linear;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.gramian.linear.CrossValidation.CostGrid;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Multinomial logistic regression with an L2 penalty:
 *
 * <pre>{@code min_W  ½‖W‖² − C Σ_i s_i log softmax(W z_i)_{y_i},   z_i = ((x_i − m)/s, 1)}</pre>
 *
 * <p>with the mean m of the rows, {@code s² = mean ‖x − m‖²} and the weight s_i of the row's class, as in {@link Svm};
 * the bias is the weight of the constant 1. The problem is strictly convex. L-BFGS ({@link LogisticDescent}) solves it
 * in float64 until the norm of the gradient is {@value #TOLERANCE} of that at 0. If {@code d > n} it works on the
 * products {@code ZZᵀ [n, n]}.
 *
 * <p>An unset C is chosen from 0.1, 1, 10, 100 and 1000 by the calibrated log loss of five-fold cross-validation over
 * groups; C is 1 if a class has only one group.
 *
 * @param c weight of the loss against the penalty, positive; empty to choose it by cross-validation
 */
public record Logistic(OptionalDouble c) implements LinearSolver {
    private static final double TOLERANCE = 1e-5;

    /** Predictions do not need the last digits of a solution. */
    private static final double SEARCH_TOLERANCE = 1e-3;

    public Logistic {
        CostGrid.requirePositive("logistic", c);
    }

    /**
     * Normalized rows as the solver reads them.
     *
     * @param products whether the matrix is {@code ZZᵀ [n, n]}; else {@code Z [n, d + 1]}
     */
    private record Scaled(CentredRows centred, double scale, boolean products, Tensor matrix) {
        static Scaled of(LabelledRows rows) {
            CentredRows centred = CentredRows.aroundMean(rows);
            double scale = centred.scale();
            if (rows.size() > rows.count()) {
                Tensor gram = centred.gram().to(DType.F64).mulInPlace(1 / (scale * scale));
                return new Scaled(centred, scale, true, gram.add(1));
            }
            Tensor all = centred.all().to(DType.F64).mulInPlace(1 / scale);
            Tensor ones = Tensors.full(1, Shape.of(rows.count(), 1), DType.F64, all.device());
            return new Scaled(centred, scale, false, Tensors.concat(List.of(all, ones), 1));
        }

        /** Returns the matrix of some rows: their products with the training rows, or the rows themselves. */
        Tensor part(int[] which, int[] training) {
            Tensor some = matrix.select(0, centred.index(which));
            return products ? some.select(1, centred.index(training)) : some;
        }
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolverListener watch) {
        requireRoom(rows.count(), rows.size());
        try (Scope scope = Scope.open()) {
            watch.at("Gram matrix of the rows", 0, 1);
            Scaled scaled = Scaled.of(rows);
            GroupFolds folds = GroupFolds.of(rows);
            CostGrid grid = CostGrid.of(c, 0.1, 1.0, 10.0, 100.0, 1000.0);
            List<CrossValidation> tried =
                    folds.folds() > 1 ? crossValidate(rows, scaled, folds, grid, watch) : List.of();
            int best = 0;
            for (int g = 1; g < tried.size(); g++) {
                best = tried.get(g).logLoss() < tried.get(best).logLoss() ? g : best;
            }
            double chosen = tried.isEmpty() ? grid.unchosen() : grid.costs().get(best);
            SequencedMap<String, Double> found = CostGrid.found(chosen, folds.folds());
            LogisticDescent descent =
                    descent(rows, scaled, IntStream.range(0, rows.count()).toArray());
            LogisticDescent.Convergence convergence = descent.minimize(
                    chosen,
                    TOLERANCE,
                    iterations -> watch.at("fitting logistic regression", iterations, iterations + 1));
            found.put("gradient", convergence.gradient());
            found.put("iterations", (double) convergence.iterations());
            LinearModel model = model(scaled, descent.solution(), rows.classes(), found);
            return (tried.isEmpty() ? model : model.with(tried.get(best))).keptBy(scope);
        }
    }

    private static LogisticDescent descent(LabelledRows rows, Scaled scaled, int[] training) {
        int[] labels = Arrays.stream(training).map(rows::label).toArray();
        double[] weights = Arrays.stream(labels).mapToDouble(rows::weight).toArray();
        Tensor matrix = training.length == rows.count() ? scaled.matrix : scaled.part(training, training);
        return new LogisticDescent(matrix, scaled.products, labels, weights, rows.classes());
    }

    /** Computes out-of-fold scores for every C of the grid, each warm-started from the previous solution. */
    private static List<CrossValidation> crossValidate(
            LabelledRows rows, Scaled scaled, GroupFolds folds, CostGrid grid, SolverListener watch) {
        int k = rows.classes();
        List<Double> costs = grid.costs();
        double[][][] logits = new double[costs.size()][rows.count()][];
        for (int fold = 0; fold < folds.folds(); fold++) {
            int done = fold * costs.size();
            try (Scope _ = Scope.open()) {
                int[] training = folds.rows(fold, false);
                int[] tested = folds.rows(fold, true);
                LogisticDescent descent = descent(rows, scaled, training);
                Tensor test = scaled.part(tested, training);
                for (int g = 0; g < costs.size(); g++) {
                    int at = done + g;
                    descent.minimize(
                            costs.get(g),
                            SEARCH_TOLERANCE,
                            _ -> watch.at(grid.task(), at, costs.size() * folds.folds()));
                    double[] scores = descent.scores(test);
                    for (int i = 0; i < tested.length; i++) {
                        logits[g][tested[i]] = Arrays.copyOfRange(scores, i * k, (i + 1) * k);
                    }
                }
            }
        }
        return Arrays.stream(logits)
                .map(one -> new CrossValidation(rows, folds.folds(), one))
                .toList();
    }

    /** Converts the solution, coefficients {@code [n, k]} or weights {@code [d + 1, k]}, to the units of the rows. */
    private static LinearModel model(
            Scaled scaled, double[] solution, int classes, SequencedMap<String, Double> found) {
        CentredRows centred = scaled.centred;
        int side = solution.length / classes;
        double[] bias = new double[classes];
        Tensor transposed =
                Tensors.of(solution, Shape.of(side, classes), DType.F64).transpose();
        Tensor weight;
        if (scaled.products) {
            for (int i = 0; i < solution.length; i++) {
                bias[i % classes] += solution[i];
            }
            Tensor beta =
                    transposed.to(DType.F32).contiguous().to(centred.rows().device());
            weight = centred.combined(beta).mulInPlace(1 / (scaled.scale * scaled.scale));
        } else {
            System.arraycopy(solution, solution.length - classes, bias, 0, classes);
            Tensor inner = transposed.slice(1, 0, side - 1).mul(1 / scaled.scale);
            weight = inner.to(DType.F32).contiguous().to(centred.rows().device());
        }
        return LinearModel.around(centred.centres(), weight, bias, found);
    }

    /**
     * Minimizes {@code F(W) = ½‖W‖² − Σ_i c_i log softmax(W z_i)_{y_i}} by L-BFGS (Nocedal and Wright: Numerical Optimization,
     * algorithm 7.4) with a line search by Newton's method along the direction, where scores are linear.
     *
     * <p>Parameters U are {@code Wᵀ [d, k]} themselves, or, from the products {@code K = ZZᵀ}, the coefficients {@code [n, k]} of
     * {@code Wᵀ = ZᵀU}. Then the inner product is {@code ⟨A, B⟩ = tr(AᵀKB)}, so that steps are the same as those in W, and the
     * gradient in coefficients is {@code U + R} with {@code R_i = c_i (softmax(W z_i) − e_{y_i})}. A vector is kept with its
     * dual {@code KA}; an iteration costs one product with K, or two with Z.
     */
    private static final class LogisticDescent {
        /** Number of steps from which the inverse Hessian is estimated. */
        private static final int MEMORY = 10;

        private static final int MAX_ITERATIONS = 1000;
        private static final int MAX_TRIALS = 30;

        /** The line search ends when the slope along the direction is at most this fraction of the initial slope. */
        private static final double SLOPE_TOLERANCE = 0.1;

        private final Tensor matrix;
        private final boolean products;
        private final int[] labels;
        private final double[] weights;
        private final int classes;
        private double[] solution;

        /**
         * Starts at 0.
         *
         * @param matrix {@code K [n, n]} or {@code Z [n, d]} in float64
         * @param weights weight of each row, a factor of c_i
         */
        LogisticDescent(Tensor matrix, boolean products, int[] labels, double[] weights, int classes) {
            this.matrix = matrix;
            this.products = products;
            this.labels = labels;
            this.weights = weights;
            this.classes = classes;
            this.solution = new double[Math.toIntExact(matrix.size(1) * classes)];
        }

        /**
         * Convergence of a minimization.
         *
         * @param gradient norm of the gradient relative to that at 0
         */
        record Convergence(double gradient, int iterations) {}

        /** A vector of parameters and its dual; a vector of weights is its own dual. */
        @SuppressWarnings({"ArrayRecordComponent", "ReferenceEquality"
        }) // never compared; the dual may be the same array
        private record Vector(double[] values, double[] dual) {
            double dot(Vector other) {
                double[] a = values;
                double[] b = other.dual;
                double[] sums = new double[4]; // independent sums: no wait for the previous addition
                int i = 0;
                for (; i + 3 < a.length; i += 4) {
                    sums[0] += a[i] * b[i];
                    sums[1] += a[i + 1] * b[i + 1];
                    sums[2] += a[i + 2] * b[i + 2];
                    sums[3] += a[i + 3] * b[i + 3];
                }
                for (; i < a.length; i++) {
                    sums[0] += a[i] * b[i];
                }
                return sums[0] + sums[1] + sums[2] + sums[3];
            }

            double norm() {
                return Math.sqrt(Math.max(0, dot(this)));
            }

            Vector plus(double factor, Vector other) {
                double[] sum = sum(values, factor, other.values);
                return new Vector(sum, values == dual ? sum : sum(dual, factor, other.dual));
            }

            Vector times(double factor) {
                double[] scaled = Arrays.stream(values).map(x -> factor * x).toArray();
                return new Vector(
                        scaled,
                        values == dual
                                ? scaled
                                : Arrays.stream(dual).map(x -> factor * x).toArray());
            }
        }

        private static double[] sum(double[] a, double factor, double[] b) {
            double[] sum = new double[a.length];
            for (int i = 0; i < a.length; i++) {
                sum[i] = a[i] + factor * b[i];
            }
            return sum;
        }

        /** A step s and the change y of the gradient over it. */
        private record Pair(Vector s, Vector y, double product) {}

        /**
         * Minimizes F, starting from the last solution.
         *
         * @param c weight of the loss, a factor of every c_i
         * @param tolerance of the gradient's norm, relative to that at 0
         * @param eachStep called with the number of steps; may throw
         */
        Convergence minimize(double c, double tolerance, IntConsumer eachStep) {
            double[] zero = new double[solution.length];
            double reference =
                    gradient(zero, new double[labels.length * classes], c).norm();
            double[] scores = scores(matrix);
            Vector gradient = gradient(solution, scores, c);
            Deque<Pair> history = new ArrayDeque<>();
            int steps = 0;
            while (gradient.norm() > tolerance * reference && steps < MAX_ITERATIONS) {
                eachStep.accept(steps);
                Vector direction = direction(gradient, history);
                double[] along = products ? direction.dual : times(matrix, direction.values);
                double length = search(direction, gradient, scores, along, c);
                if (!(length > 0)) {
                    break; // rounding errors: the direction is not a descent direction
                }
                solution = sum(solution, length, direction.values);
                scores = sum(scores, length, along);
                Vector next = gradient(solution, scores, c);
                Vector change = next.plus(-1, gradient);
                Vector step = direction.times(length);
                double product = step.dot(change);
                if (product > 0) {
                    history.addLast(new Pair(step, change, product));
                    if (history.size() > MEMORY) {
                        history.removeFirst();
                    }
                }
                gradient = next;
                steps++;
            }
            return new Convergence(reference > 0 ? gradient.norm() / reference : 0, steps);
        }

        /** Returns {@code −H g} with the L-BFGS estimate H of the inverse Hessian (two-loop recursion). */
        private static Vector direction(Vector gradient, Deque<Pair> history) {
            Vector q = gradient.times(-1);
            double[] factors = new double[history.size()];
            int i = factors.length;
            for (Iterator<Pair> newest = history.descendingIterator(); newest.hasNext(); ) {
                Pair pair = newest.next();
                factors[--i] = pair.s.dot(q) / pair.product;
                q = q.plus(-factors[i], pair.y);
            }
            @Nullable Pair last = history.peekLast();
            if (last != null) {
                q = q.times(last.product / last.y.dot(last.y));
            }
            for (Pair pair : history) {
                q = q.plus(factors[i++] - pair.y.dot(q) / pair.product, pair.s);
            }
            return q;
        }

        /** Returns a step length at which the slope along the direction is small, by Newton's method between bounds. */
        private double search(Vector direction, Vector gradient, double[] scores, double[] along, double c) {
            double first = gradient.dot(direction);
            if (!(first < 0)) {
                return 0;
            }
            double square = direction.dot(direction);
            double linear = first - derivatives(scores, along, 0, c)[0];
            double low = 0;
            double high = Double.POSITIVE_INFINITY;
            double length = 1;
            for (int trial = 0; trial < MAX_TRIALS; trial++) {
                double[] loss = derivatives(scores, along, length, c);
                double slope = linear + length * square + loss[0];
                if (Math.abs(slope) <= SLOPE_TOLERANCE * -first) {
                    return length;
                }
                if (slope < 0) {
                    low = length;
                } else {
                    high = length;
                }
                double newton = length - slope / (square + loss[1]);
                if (newton > low && newton < high) {
                    length = newton;
                } else {
                    length = Double.isInfinite(high) ? 2 * length : (low + high) / 2;
                }
            }
            return low;
        }

        /** Returns the first and second derivative of the loss by the length at {@code scores + length · along}. */
        private double[] derivatives(double[] scores, double[] along, double length, double c) {
            double[] row = new double[classes];
            double first = 0;
            double second = 0;
            for (int i = 0; i < labels.length; i++) {
                int start = i * classes;
                for (int k = 0; k < classes; k++) {
                    row[k] = scores[start + k] + length * along[start + k];
                }
                softmax(row);
                double mean = 0;
                double square = 0;
                for (int k = 0; k < classes; k++) {
                    mean += row[k] * along[start + k];
                    square += row[k] * along[start + k] * along[start + k];
                }
                first += c * weights[i] * (mean - along[start + labels[i]]);
                second += c * weights[i] * (square - mean * mean);
            }
            return new double[] {first, second};
        }

        private static void softmax(double[] row) {
            double max = Arrays.stream(row).max().orElseThrow();
            double total = 0;
            for (int k = 0; k < row.length; k++) {
                row[k] = Math.exp(row[k] - max);
                total += row[k];
            }
            for (int k = 0; k < row.length; k++) {
                row[k] /= total;
            }
        }

        private Vector gradient(double[] parameters, double[] scores, double c) {
            double[] residual = new double[scores.length];
            double[] row = new double[classes];
            for (int i = 0; i < labels.length; i++) {
                System.arraycopy(scores, i * classes, row, 0, classes);
                softmax(row);
                row[labels[i]] -= 1;
                for (int k = 0; k < classes; k++) {
                    residual[i * classes + k] = c * weights[i] * row[k];
                }
            }
            if (products) {
                return new Vector(sum(parameters, 1, residual), sum(scores, 1, times(matrix, residual)));
            }
            double[] sum = sum(parameters, 1, times(matrix.transpose(), residual));
            return new Vector(sum, sum);
        }

        private double[] times(Tensor left, double[] right) {
            try (Scope _ = Scope.open()) {
                Tensor factor = Tensors.of(right, Shape.of(right.length / classes, classes), DType.F64);
                return left.matmul(factor.to(left.device())).to(Device.CPU).toDoubles();
            }
        }

        /**
         * Returns the scores {@code [m · k]} of rows.
         *
         * @param rows their products with the training rows {@code [m, n]}, or the rows themselves {@code [m, d]}
         */
        double[] scores(Tensor rows) {
            return times(rows, solution);
        }

        /** Returns the minimizer, coefficients {@code [n · k]} or weights {@code [d · k]}. */
        double[] solution() {
            return solution;
        }
    }
}
