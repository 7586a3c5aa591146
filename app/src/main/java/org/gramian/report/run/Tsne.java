package org.gramian.report.run;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Exact t-SNE: points {@code y_i} of the plane whose similarities {@code q_ij ∝ 1 / (1 + ‖y_i - y_j‖²)} come close to
 * those of the vectors, {@link #affinities p_ij}, in the Kullback-Leibler divergence {@code C = sum p_ij log(p_ij /
 * q_ij)}. Its gradient is {@code 4 sum_j (p_ij - q_ij)(y_i - y_j) / (1 + ‖y_i - y_j‖²)}.
 *
 * <p>van der Maaten and Hinton 2008, Visualizing Data using t-SNE, with their momentum, gains and early exaggeration; initialized
 * with scaled-down principal components, which preserve the global structure (Kobak and Berens 2019), and a little noise,
 * without which equal vectors would never separate.
 *
 * @param perplexity effective number of neighbours, lowered for few points
 */
record Tsne(double perplexity, int iterations, long seed) {
    /** Usual perplexity; a thousand points converge in these iterations. */
    static final Tsne DEFAULT = new Tsne(30, 500, 0);

    /** Largest perplexity relative to the number of points. */
    private static final double SHARE = 1.0 / 3;

    private static final double INITIAL_SCALE = 1e-4;
    private static final int EXAGGERATED = 100;
    private static final double EXAGGERATION = 12;
    private static final int MAX_BISECTIONS = 100;
    private static final double TOLERANCE = 1e-9;

    public Tsne {
        if (!(perplexity >= 1) || iterations < 1) {
            throw new IllegalArgumentException(
                    "expected perplexity and iterations of at least 1, found " + perplexity + " and " + iterations);
        }
    }

    /** Returns the perplexity used for a number of points. */
    double perplexity(int points) {
        return Math.max(1, Math.min(perplexity, (points - 1) * SHARE));
    }

    /** Returns the embedding {@code [n, 2]}, starting from a plane {@code [n, 2]}. Fewer than 4 points are returned unchanged. */
    double[][] embed(double[][] squares, double[][] plane) {
        int n = squares.length;
        if (n < 4) {
            return plane;
        }
        double[][] affinities = affinities(squares, perplexity(n));
        double[][] points = initial(plane);
        Descent descent = new Descent(n, Math.max(50, n / EXAGGERATION / 4)); // Belkina et al. 2019
        for (int iteration = 0; iteration < iterations; iteration++) {
            boolean early = iteration < EXAGGERATED;
            double[][] gradient = gradient(affinities, points, early ? EXAGGERATION : 1);
            descent.step(points, gradient, early ? 0.5 : 0.8);
        }
        return points;
    }

    /**
     * Returns the joint probabilities {@code [n, n]}, which sum to 1: {@code p_ij = (p_j|i + p_i|j) / 2n} with {@code p_j|i ∝
     * exp(-β_i d²_ij)}, where {@code β_i} is chosen such that the entropy of {@code p_·|i} is the logarithm of the perplexity
     * (equations 1 and 10).
     */
    static double[][] affinities(double[][] squares, double perplexity) {
        int n = squares.length;
        double[][] conditional = new double[n][];
        Arrays.parallelSetAll(conditional, i -> conditional(squares[i], i, perplexity));
        double[][] joint = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                joint[i][j] = (conditional[i][j] + conditional[j][i]) / (2.0 * n);
            }
        }
        return joint;
    }

    /** Returns {@code p_·|i} of the perplexity, by bisection: the entropy decreases with {@code β}. */
    static double[] conditional(double[] squares, int self, double perplexity) {
        double target = Math.log(perplexity);
        double low = 0;
        double high = Double.POSITIVE_INFINITY;
        double beta = 1 / Math.max(1e-200, mean(squares)); // finite after all doublings, also where all are equal
        double[] row = new double[squares.length];
        for (int round = 0; round < MAX_BISECTIONS; round++) {
            double excess = entropy(squares, self, beta, row) - target;
            if (Math.abs(excess) < TOLERANCE) {
                break;
            }
            if (excess > 0) {
                low = beta;
                beta = Double.isInfinite(high) ? beta * 2 : (beta + high) / 2;
            } else {
                high = beta;
                beta = (beta + low) / 2;
            }
        }
        return row;
    }

    private static double mean(double[] squares) {
        return Arrays.stream(squares).sum() / Math.max(1, squares.length - 1);
    }

    /** Fills the row and returns its entropy; subtracts the smallest distance, so that nothing underflows to 0 / 0. */
    private static double entropy(double[] squares, int self, double beta, double[] row) {
        double nearest = Double.POSITIVE_INFINITY;
        for (int j = 0; j < row.length; j++) {
            nearest = j == self ? nearest : Math.min(nearest, squares[j]);
        }
        double sum = 0;
        double weighted = 0;
        for (int j = 0; j < row.length; j++) {
            double further = squares[j] - nearest;
            row[j] = j == self ? 0 : Math.exp(-beta * further);
            sum += row[j];
            weighted += row[j] * further;
        }
        for (int j = 0; j < row.length; j++) {
            row[j] /= sum;
        }
        return Math.log(sum) + beta * weighted / sum;
    }

    private double[][] initial(double[][] plane) {
        double spread = 0;
        for (double[] point : plane) {
            spread += point[0] * point[0] / plane.length;
        }
        double scale = INITIAL_SCALE / Math.max(1e-300, Math.sqrt(spread));
        SplittableRandom random = new SplittableRandom(seed);
        double[][] points = new double[plane.length][2];
        for (int i = 0; i < plane.length; i++) {
            for (int axis = 0; axis < 2; axis++) {
                points[i][axis] = plane[i][axis] * scale + 0.01 * INITIAL_SCALE * random.nextGaussian();
            }
        }
        return points;
    }

    /** Gradient descent with momentum and per-coordinate gains, which grow while the gradient keeps its sign. */
    private static final class Descent {
        private final double[][] last;
        private final double[][] gains;
        private final double rate;

        Descent(int points, double rate) {
            this.last = new double[points][2];
            this.gains = new double[points][2];
            this.rate = rate;
            for (double[] gain : gains) {
                Arrays.fill(gain, 1);
            }
        }

        /** Moves the points and centres them. */
        void step(double[][] points, double[][] gradient, double momentum) {
            double[] mean = new double[2];
            for (int i = 0; i < points.length; i++) {
                for (int axis = 0; axis < 2; axis++) {
                    boolean on = gradient[i][axis] > 0 != last[i][axis] > 0;
                    gains[i][axis] = on ? gains[i][axis] + 0.2 : Math.max(0.01, gains[i][axis] * 0.8);
                    last[i][axis] = momentum * last[i][axis] - rate * gains[i][axis] * gradient[i][axis];
                    points[i][axis] += last[i][axis];
                    mean[axis] += points[i][axis] / points.length;
                }
            }
            for (double[] point : points) {
                point[0] -= mean[0];
                point[1] -= mean[1];
            }
        }
    }

    /**
     * Returns {@code dC/dy}, {@code [n, 2]}, with the affinities times a factor: {@code 4 (factor sum_j p_ij k_ij d_ij - sum_j k_ij²
     * d_ij / total)}, {@code d_ij = y_i - y_j}, {@code k_ij = 1 / (1 + ‖d_ij‖²)}, where all {@code k_ij} add up to {@code total}.
     */
    static double[][] gradient(double[][] affinities, double[][] points, double factor) {
        int n = points.length;
        double[] x = Arrays.stream(points).mapToDouble(point -> point[0]).toArray();
        double[] y = Arrays.stream(points).mapToDouble(point -> point[1]).toArray();
        double[] pullX = new double[n];
        double[] pullY = new double[n];
        double[] pushX = new double[n];
        double[] pushY = new double[n];
        double total = 0;
        for (int i = 0; i < n; i++) {
            double[] row = affinities[i];
            for (int j = i + 1; j < n; j++) {
                double dx = x[i] - x[j];
                double dy = y[i] - y[j];
                double kernel = 1 / (1 + dx * dx + dy * dy);
                double pull = row[j] * kernel;
                double push = kernel * kernel;
                total += 2 * kernel;
                pullX[i] += pull * dx;
                pullY[i] += pull * dy;
                pullX[j] -= pull * dx;
                pullY[j] -= pull * dy;
                pushX[i] += push * dx;
                pushY[i] += push * dy;
                pushX[j] -= push * dx;
                pushY[j] -= push * dy;
            }
        }
        double share = 1 / Math.max(Double.MIN_NORMAL, total);
        double[][] gradient = new double[n][2];
        for (int i = 0; i < n; i++) {
            gradient[i][0] = 4 * (factor * pullX[i] - share * pushX[i]);
            gradient[i][1] = 4 * (factor * pullY[i] - share * pushY[i]);
        }
        return gradient;
    }
}
