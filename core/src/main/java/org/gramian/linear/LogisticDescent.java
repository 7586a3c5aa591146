package org.gramian.linear;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.IntConsumer;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Minimizes {@code F(W) = ½‖W‖² − Σ_i c_i log softmax(W z_i)_{y_i}} by L-BFGS (Nocedal and Wright: Numerical Optimization,
 * algorithm 7.4) with a line search by Newton's method along the direction, where scores are linear.
 *
 * <p>Parameters U are {@code Wᵀ [d, k]} themselves, or, from the products {@code K = ZZᵀ}, the coefficients {@code [n, k]} of
 * {@code Wᵀ = ZᵀU}. Then the inner product is {@code ⟨A, B⟩ = tr(AᵀKB)}, so that steps are the same as those in W, and the
 * gradient in coefficients is {@code U + R} with {@code R_i = c_i (softmax(W z_i) − e_{y_i})}. A vector is kept with its
 * dual {@code KA}; an iteration costs one product with K, or two with Z.
 */
final class LogisticDescent {
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
     * @param products whether the matrix is K
     * @param labels class y_i of each row
     * @param weights weight of each row, a factor of c_i
     * @param classes number of classes k
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
     * @param iterations number of steps
     */
    record Convergence(double gradient, int iterations) {}

    /** A vector of parameters and its dual; a vector of weights is its own dual. */
    @SuppressWarnings({"ArrayRecordComponent", "ReferenceEquality"}) // never compared; the dual may be the same array
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
