package org.gramian.report.embedding;

import java.util.Arrays;

/**
 * Joint probabilities of t-SNE: {@code p_ij = (p_j|i + p_i|j) / 2n} with {@code p_j|i ∝
 * exp(-β_i d²_ij)}, where {@code β_i} is chosen such that the entropy of {@code p_·|i} is the logarithm of the perplexity, the
 * effective number of neighbours.
 *
 * <p>van der Maaten and Hinton 2008, Visualizing Data using t-SNE, equations 1 and 10.
 */
final class Affinities {
    /** Most bisections of {@code β}. */
    private static final int MOST_ROUNDS = 100;

    private static final double TOLERANCE = 1e-9;

    private Affinities() {}

    /** Returns the symmetric matrix {@code [n, n]}, which sums to 1. */
    static double[][] joint(PairwiseDistances distances, double perplexity) {
        int n = distances.size();
        double[][] conditional = new double[n][];
        Arrays.parallelSetAll(conditional, i -> conditional(distances.squares()[i], i, perplexity));
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
        for (int round = 0; round < MOST_ROUNDS; round++) {
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
}
