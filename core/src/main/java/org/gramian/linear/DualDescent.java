package org.gramian.linear;

import java.util.Arrays;
import java.util.BitSet;
import java.util.random.RandomGenerator;

/**
 * Some classes, each against the rest: linear SVMs with squared hinge loss, by coordinate descent in the dual (Hsieh, Chang,
 * Lin, Keerthi and Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008).
 *
 * <pre>{@code
 * primal  min_w  ½‖w‖² + Σ_i c_i max(0, 1 − y_i w·x_i)²
 * dual    max_α  Σ_i α_i − ½‖Σ_i α_i y_i x_i‖² − Σ_i α_i²/(4 c_i),   α_i ≥ 0
 * step    α_i ← max(0, α_i − (y_i w·x_i − 1 + α_i/(2c_i)) / (x_i·x_i + 1/(2c_i)))
 * }</pre>
 *
 * <p>At the optimum both are equal; their difference bounds the distance to it and ends the descent of a class. When costs
 * change, descent starts from the last solution. The classes visit rows in one common order, so that a row is read once for
 * all of them. Rows that stay outside the margin are skipped until the next check of the gap (shrinking, section 3.2 there).
 */
final class DualDescent {
    /** Bound on passes: only very large costs on inseparable rows reach it. */
    private static final int MOST_PASSES = 1000;

    /** Where values at rows are not kept, computing the gap costs about a pass. */
    private static final int PASSES_PER_CHECK = 5;

    private final Features features;
    private final int[] order;
    private final RandomGenerator random;
    private final OfClass[] classes;
    private final int checkEvery;
    private final float[] row;

    /**
     * Starts at {@code α = 0}.
     *
     * @param rows indexes of the training rows
     * @param labels class of every row
     * @param first first class of this block
     * @param end class behind the last one
     */
    DualDescent(Features features, int[] rows, int[] labels, int first, int end, RandomGenerator random) {
        this.features = features;
        this.order = rows.clone();
        this.random = random;
        this.classes = new OfClass[end - first];
        Arrays.setAll(classes, c -> new OfClass(features, labels, first + c));
        this.checkEvery = features.keepsValues() ? 1 : PASSES_PER_CHECK;
        this.row = new float[features.width()];
    }

    /**
     * How a descent ended.
     *
     * @param gap {@code (primal − dual) / primal}
     * @param passes over all rows
     */
    record Ending(double gap, int passes) {}

    /**
     * Descends until the relative gap of every class is small.
     *
     * @param costs c of every row
     * @param eachPass called after each pass; may throw
     * @return the ending of each class
     */
    Ending[] descend(double[] costs, double tolerance, Runnable eachPass) {
        Ending[] endings = new Ending[classes.length];
        for (OfClass one : classes) {
            one.begin();
        }
        int open = classes.length;
        for (int passes = 0; open > 0; ) {
            for (int i = 0; i < checkEvery; i++) {
                pass(costs);
                eachPass.run();
            }
            passes += checkEvery;
            double[] gaps = gaps(costs);
            for (int c = 0; c < classes.length; c++) {
                if (!classes[c].done && (gaps[c] <= tolerance || passes >= MOST_PASSES)) {
                    classes[c].done = true;
                    endings[c] = new Ending(gaps[c], passes);
                    open--;
                }
            }
        }
        return endings;
    }

    private void pass(double[] costs) {
        for (int i = order.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        boolean keeps = features.keepsValues();
        for (int i : order) {
            double softness = 0.5 / costs[i];
            double curvature = features.square(i) + softness;
            boolean read = false;
            for (OfClass one : classes) {
                if (one.done || one.shrunk.get(i)) {
                    continue;
                }
                if (!keeps && !read) {
                    features.read(i, row);
                    read = true;
                }
                double change = one.change(i, keeps ? one.function.at(i) : one.function.at(row), softness, curvature);
                if (change != 0) {
                    if (!read) {
                        features.read(i, row);
                        read = true;
                    }
                    one.function.add(row, change);
                }
            }
        }
        for (OfClass one : classes) {
            one.endPass();
        }
    }

    /** Relative duality gap of every class that is not done; computing it ends the shrinking. */
    private double[] gaps(double[] costs) {
        boolean keeps = features.keepsValues();
        double[][] sums = new double[classes.length][4];
        for (int i : order) {
            if (!keeps) {
                features.read(i, row);
            }
            for (int c = 0; c < classes.length; c++) {
                OfClass one = classes[c];
                if (!one.done) {
                    double margin = one.sign(i) * (keeps ? one.function.at(i) : one.function.at(row));
                    double slack = Math.max(0, 1 - margin);
                    double alpha = one.alpha[i];
                    sums[c][0] += alpha * margin;
                    sums[c][1] += costs[i] * slack * slack;
                    sums[c][2] += alpha;
                    sums[c][3] += alpha * alpha / (4 * costs[i]);
                }
            }
        }
        double[] gaps = new double[classes.length];
        for (int c = 0; c < gaps.length; c++) {
            double primal = sums[c][0] / 2 + sums[c][1];
            gaps[c] = (primal - (sums[c][2] - sums[c][0] / 2 - sums[c][3])) / primal;
            classes[c].shrunk.clear();
        }
        return gaps;
    }

    /** {@code w·x_i} of any row, for each class of the block. */
    double[] at(int i) {
        double[] values = new double[classes.length];
        if (!features.keepsValues()) {
            features.read(i, row);
        }
        Arrays.setAll(values, c -> features.keepsValues() ? classes[c].function.at(i) : classes[c].function.at(row));
        return values;
    }

    /** {@code β_i = α_i y_i} of every row for a class of the block: {@code w = Σ β_i x_i}. */
    double[] coefficients(int c) {
        double[] coefficients = new double[classes[c].alpha.length];
        Arrays.setAll(coefficients, i -> classes[c].alpha[i] * classes[c].sign(i));
        return coefficients;
    }

    /** State of one class. */
    private static final class OfClass {
        private final Features.Function function;
        private final int[] labels;
        private final int label;
        private final double[] alpha;
        private final BitSet shrunk = new BitSet();
        private double violation;
        private double lastViolation = Double.POSITIVE_INFINITY;
        private boolean done;

        OfClass(Features features, int[] labels, int label) {
            this.function = features.zero();
            this.labels = labels;
            this.label = label;
            this.alpha = new double[features.count()];
        }

        void begin() {
            done = false;
            shrunk.clear();
            lastViolation = Double.POSITIVE_INFINITY;
        }

        double sign(int i) {
            return labels[i] == label ? 1 : -1;
        }

        /** Minimizes over {@code α_i}; returns the change of {@code β_i}. */
        double change(int i, double value, double softness, double curvature) {
            double sign = sign(i);
            double slope = sign * value - 1 + alpha[i] * softness;
            if (alpha[i] == 0 && slope >= 0) {
                if (slope > lastViolation) {
                    shrunk.set(i);
                }
                return 0;
            }
            violation = Math.max(violation, Math.abs(slope));
            double next = Math.max(0, alpha[i] - slope / curvature);
            double change = (next - alpha[i]) * sign;
            alpha[i] = next;
            return change;
        }

        void endPass() {
            lastViolation = violation;
            violation = 0;
        }
    }
}
