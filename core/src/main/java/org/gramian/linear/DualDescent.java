package org.gramian.linear;

import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * One class against the rest: the linear SVM with squared hinge loss, by coordinate descent in its dual (Hsieh, Chang, Lin,
 * Keerthi and Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008).
 *
 * <pre>{@code
 * primal  min_w  ½‖w‖² + Σ_i c_i max(0, 1 − y_i w·x_i)²
 * dual    max_α  Σ_i α_i − ½‖Σ_i α_i y_i x_i‖² − Σ_i α_i²/(4 c_i),   α_i ≥ 0
 * step    α_i ← max(0, α_i − (y_i w·x_i − 1 + α_i/(2c_i)) / (x_i·x_i + 1/(2c_i)))
 * }</pre>
 *
 * <p>At the optimum both are equal; their difference bounds how far from it a point is, and ends the descent. It goes on
 * from where it stands when costs change.
 */
final class DualDescent {
    /** After so many passes it ends, whatever the gap: only enormous costs on rows that nothing separates come here. */
    private static final int MOST_PASSES = 1000;

    /** The gap costs about a pass. */
    private static final int LOOK_EVERY = 5;

    private final Features features;
    private final Features.Function function;
    private final double[] signs;
    private final int[] order;
    private final double[] alpha;
    private final RandomGenerator random;

    /**
     * At {@code α = 0}.
     *
     * @param rows which rows are learned from
     * @param signs y of every row, 1 or -1
     */
    DualDescent(Features features, int[] rows, double[] signs, RandomGenerator random) {
        this.features = features;
        this.function = features.zero();
        this.signs = signs;
        this.order = rows.clone();
        this.alpha = new double[features.count()];
        this.random = random;
    }

    /**
     * How a descent ended.
     *
     * @param gap {@code (primal − dual) / primal}
     * @param passes over all rows
     */
    record Ending(double gap, int passes) {}

    /**
     * Descends until the relative gap is small.
     *
     * @param costs c of every row
     * @param eachPass called after each pass; may throw
     */
    Ending descend(double[] costs, double tolerance, Runnable eachPass) {
        double gap = 1;
        int passes = 0;
        while (gap > tolerance && passes < MOST_PASSES) {
            for (int i = 0; i < LOOK_EVERY; i++) {
                pass(costs);
                eachPass.run();
            }
            passes += LOOK_EVERY;
            gap = gap(costs);
        }
        return new Ending(gap, passes);
    }

    private void pass(double[] costs) {
        for (int i = order.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        for (int i : order) {
            double softness = 0.5 / costs[i];
            double slope = signs[i] * function.at(i) - 1 + alpha[i] * softness;
            if (alpha[i] > 0 || slope < 0) {
                double next = Math.max(0, alpha[i] - slope / (features.square(i) + softness));
                function.add(i, (next - alpha[i]) * signs[i]);
                alpha[i] = next;
            }
        }
    }

    private double gap(double[] costs) {
        double length = 0;
        double loss = 0;
        double linear = 0;
        double quadratic = 0;
        for (int i : order) {
            double margin = signs[i] * function.at(i);
            double slack = Math.max(0, 1 - margin);
            length += alpha[i] * margin;
            loss += costs[i] * slack * slack;
            linear += alpha[i];
            quadratic += alpha[i] * alpha[i] / (4 * costs[i]);
        }
        double primal = length / 2 + loss;
        return (primal - (linear - length / 2 - quadratic)) / primal;
    }

    /** {@code w·x_i} of any row. */
    double at(int row) {
        return function.at(row);
    }

    /** {@code β_i = α_i y_i} of every row: {@code w = Σ β_i x_i}. */
    double[] coefficients() {
        return IntStream.range(0, alpha.length)
                .mapToDouble(i -> alpha[i] * signs[i])
                .toArray();
    }
}
