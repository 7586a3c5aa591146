package org.gramian.linear;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.random.RandomGenerator;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

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
    private static final int MAX_PASSES = 1000;

    /** Where values at rows are not kept, computing the gap costs about a pass. */
    private static final int PASSES_PER_CHECK = 5;

    private final ScaledRows matrix;
    private final int[] order;
    private final RandomGenerator random;
    private final OfClass[] classes;
    private final int checkEvery;
    private final float[] row;

    /** Starts at {@code α = 0}. */
    DualDescent(ScaledRows matrix, int[] rows, int[] labels, int first, int end, RandomGenerator random) {
        this.matrix = matrix;
        this.order = rows.clone();
        this.random = random;
        this.classes = new OfClass[end - first];
        Arrays.setAll(classes, c -> new OfClass(matrix, labels, first + c));
        this.checkEvery = matrix.products ? 1 : PASSES_PER_CHECK;
        this.row = new float[matrix.width];
    }

    /** How a descent ended, with the gap {@code (primal − dual) / primal}. */
    record Ending(double gap, int passes) {}

    /** Descends until the relative gap of every class is small. */
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
                if (!classes[c].done && (gaps[c] <= tolerance || passes >= MAX_PASSES)) {
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
        boolean keeps = matrix.products;
        for (int i : order) {
            double softness = 0.5 / costs[i];
            double curvature = matrix.squares[i] + softness;
            boolean read = false;
            for (OfClass one : classes) {
                if (one.done || one.shrunk.get(i)) {
                    continue;
                }
                if (!keeps && !read) {
                    matrix.read(i, row);
                    read = true;
                }
                double change = one.change(i, value(one, i), softness, curvature);
                if (change != 0) {
                    if (!read) {
                        matrix.read(i, row);
                        read = true;
                    }
                    one.add(row, change);
                }
            }
        }
        for (OfClass one : classes) {
            one.endPass();
        }
    }

    /** Relative duality gap of every class that is not done; computing it ends the shrinking. */
    private double[] gaps(double[] costs) {
        boolean keeps = matrix.products;
        double[][] sums = new double[classes.length][4];
        for (int i : order) {
            if (!keeps) {
                matrix.read(i, row);
            }
            for (int c = 0; c < classes.length; c++) {
                OfClass one = classes[c];
                if (!one.done) {
                    double margin = one.sign(i) * value(one, i);
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

    /** Returns {@code w·x_i}; without the Gram matrix, row i must have been read. */
    private double value(OfClass one, int i) {
        return matrix.products ? one.at(i) : one.at(row);
    }

    /** {@code w·x_i} of any row, for each class of the block. */
    double[] at(int i) {
        double[] values = new double[classes.length];
        if (!matrix.products) {
            matrix.read(i, row);
        }
        Arrays.setAll(values, c -> value(classes[c], i));
        return values;
    }

    /** {@code β_i = α_i y_i} of every row for a class of the block: {@code w = Σ β_i x_i}. */
    double[] coefficients(int c) {
        double[] coefficients = new double[classes[c].alpha.length];
        Arrays.setAll(coefficients, i -> classes[c].alpha[i] * classes[c].sign(i));
        return coefficients;
    }

    /**
     * One class against the rest, with its function {@code f(x_i) = Σ_j β_j x_j·x_i}, whose coefficients change one at a time. With the
     * Gram matrix it keeps f at all rows: evaluation is free, an update costs n. Else it keeps the weight vector: both cost d.
     */
    private static final class OfClass {
        private final double[] numbers;
        private final int[] labels;
        private final int label;
        private final double[] alpha;
        private final BitSet shrunk = new BitSet();
        private double bias;
        private double violation;
        private double lastViolation = Double.POSITIVE_INFINITY;
        private boolean done;

        OfClass(ScaledRows matrix, int[] labels, int label) {
            this.numbers = new double[matrix.width];
            this.labels = labels;
            this.label = label;
            this.alpha = new double[matrix.squares.length];
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

        double at(int i) {
            return numbers[i] + bias;
        }

        double at(float[] row) {
            double a = bias;
            double b = 0;
            double c = 0;
            double d = 0;
            int j = 0;
            for (; j + 3 < numbers.length; j += 4) { // four independent sums: no wait for the previous addition
                a += numbers[j] * row[j];
                b += numbers[j + 1] * row[j + 1];
                c += numbers[j + 2] * row[j + 2];
                d += numbers[j + 3] * row[j + 3];
            }
            for (; j < numbers.length; j++) {
                a += numbers[j] * row[j];
            }
            return a + b + (c + d);
        }

        /** Updates {@code β_i ← β_i + amount} for the row i. */
        void add(float[] row, double amount) {
            for (int j = 0; j < numbers.length; j++) {
                numbers[j] += amount * row[j];
            }
            bias += amount;
        }

        void endPass() {
            lastViolation = violation;
            violation = 0;
        }
    }

    /**
     * Input of the descent, in memory that many threads may read: the rows {@code [n, d]}, or their Gram matrix {@code [n, n]} if that
     * is smaller or faster.
     *
     * <p>Rows are {@code ((x − m)/s, 1)} with their mean m and {@code s² = mean ‖x − m‖²}, so that C does not depend on the scale of the
     * descriptors.
     */
    static final class ScaledRows {
        static final int MAX_PRODUCTS = 20_000;

        private final CentredRows centred;
        private final double scale;
        private final boolean products;
        private final MemorySegment numbers;
        /** Length of a stored row: n for the Gram matrix, else d. */
        private final int width;
        /** Squared lengths of the rows with their constant 1. */
        private final double[] squares;

        private ScaledRows(CentredRows centred, double scale, boolean products, Tensor matrix) {
            this.centred = centred;
            this.scale = scale;
            this.products = products;
            this.numbers = matrix.data();
            this.width = Math.toIntExact(matrix.size(1));
            this.squares = new double[Math.toIntExact(matrix.size(0))];
            float[] row = new float[width];
            for (int i = 0; i < squares.length; i++) {
                read(i, row);
                double square = 0;
                if (products) {
                    square = row[i]; // the diagonal of the Gram matrix
                } else {
                    for (float element : row) {
                        square += (double) element * element;
                    }
                }
                squares[i] = 1 + square;
            }
        }

        /** Whether the Gram matrix is stored: an update costs n with it and 2d without. */
        static boolean usesProducts(long count, long size) {
            return size > count || (2 * size > count && count <= MAX_PRODUCTS);
        }

        /** Creates the cheaper of the two forms; its memory belongs to the open scope. */
        static ScaledRows of(LabelledRows rows) {
            CentredRows centred = CentredRows.aroundMean(rows.rows());
            double scale = centred.scale();
            boolean products = usesProducts(rows.count(), rows.size());
            Tensor matrix = products
                    ? centred.gram().mulInPlace(1 / (scale * scale))
                    : centred.all().mulInPlace(1 / scale);
            return new ScaledRows(
                    centred, scale, products, matrix.to(Device.CPU).contiguous());
        }

        CentredRows centred() {
            return centred;
        }

        double scale() {
            return scale;
        }

        /** Copies a stored row: loops over arrays are vectorized and five times as fast as over segments. */
        private void read(int i, float[] target) {
            MemorySegment.copy(numbers, JAVA_FLOAT, (long) i * width * Float.BYTES, target, 0, width);
        }
    }
}
