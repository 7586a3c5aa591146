package org.gramian.report.run;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Projection to the first two principal components.
 *
 * <p>Computed from distances, as there are far fewer points than dimensions: {@code B = -½ J D² J}, {@code J = I - 11ᵀ/n},
 * holds the centred inner products, and its leading eigenvectors times the roots of their eigenvalues are the coordinates
 * (classical scaling, Torgerson 1952; equal to PCA for Euclidean distances). The eigenvectors come from subspace iteration; the
 * coordinate largest in magnitude is made positive, so that the result is deterministic.
 *
 * @param explained explained variance ratio of both axes
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor changed
record PrincipalComponents(double[][] points, double[] explained) {
    private static final int MAX_ROUNDS = 300;
    private static final double TOLERANCE = 1e-10;

    /** Returns the squared Euclidean distances {@code ‖x_i - x_j‖²} between all pairs of vectors, {@code [n, n]}. */
    static double[][] squaredDistances(List<float[]> vectors) {
        for (float[] vector : vectors) {
            if (vector.length != vectors.getFirst().length) {
                throw new IllegalArgumentException(
                        "expected vectors of one length, found " + vectors.getFirst().length + " and " + vector.length);
            }
            for (float value : vector) {
                if (!Float.isFinite(value)) {
                    throw new IllegalArgumentException("expected finite vectors, found " + value);
                }
            }
        }
        double[][] squares = new double[vectors.size()][vectors.size()];
        IntStream.range(0, squares.length).parallel().forEach(i -> {
            for (int j = 0; j < squares.length; j++) {
                // (i, j) and (j, i) sum the same terms in the same order, so the table is symmetric to the bit.
                squares[i][j] = square(vectors.get(Math.min(i, j)), vectors.get(Math.max(i, j)));
            }
        });
        return squares;
    }

    private static double square(float[] a, float[] b) {
        double sum = 0;
        for (int k = 0; k < a.length; k++) {
            double difference = (double) a[k] - b[k];
            sum += difference * difference;
        }
        return sum;
    }

    /** Projects at least one vector. */
    static PrincipalComponents of(double[][] squares) {
        double[][] products = centred(squares);
        int n = products.length;
        double[][] basis = {start(n, 1), start(n, 2)};
        orthonormalize(basis);
        double before = 0;
        for (int round = 0; round < MAX_ROUNDS; round++) {
            basis = new double[][] {times(products, basis[0]), times(products, basis[1])};
            double size = orthonormalize(basis);
            if (Math.abs(size - before) <= TOLERANCE * Math.abs(size)) {
                break;
            }
            before = size;
        }
        return coordinates(products, rotated(products, basis));
    }

    private static double[][] centred(double[][] squares) {
        int n = squares.length;
        double[] means = new double[n];
        double all = 0;
        for (int i = 0; i < n; i++) {
            for (double square : squares[i]) {
                means[i] += square / n;
            }
            all += means[i] / n;
        }
        double[][] products = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                products[i][j] = -0.5 * (squares[i][j] - means[i] - means[j] + all);
            }
        }
        return products;
    }

    /** Returns a deterministic starting vector without structure. */
    private static double[] start(int n, int which) {
        double[] vector = new double[n];
        for (int i = 0; i < n; i++) {
            vector[i] = Math.sin((i + 1) * (which == 1 ? 12.9898 : 78.233));
        }
        return vector;
    }

    private static double[] times(double[][] matrix, double[] vector) {
        double[] out = new double[vector.length];
        for (int i = 0; i < out.length; i++) {
            double sum = 0;
            for (int j = 0; j < out.length; j++) {
                sum += matrix[i][j] * vector[j];
            }
            out[i] = sum;
        }
        return out;
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    /** Applies Gram-Schmidt in place; returns the sum of the norms, which converges to that of the two eigenvalues. */
    private static double orthonormalize(double[][] basis) {
        double first = normalize(basis[0]);
        double overlap = dot(basis[0], basis[1]);
        for (int i = 0; i < basis[1].length; i++) {
            basis[1][i] -= overlap * basis[0][i];
        }
        return first + normalize(basis[1]);
    }

    private static double normalize(double[] vector) {
        double length = Math.sqrt(dot(vector, vector));
        for (int i = 0; i < vector.length; i++) {
            vector[i] = length < 1e-300 ? 0 : vector[i] / length;
        }
        return length;
    }

    /** Solves the 2 × 2 eigenproblem within the span of the basis by a Jacobi rotation. */
    private static double[][] rotated(double[][] products, double[][] basis) {
        double[] first = times(products, basis[0]);
        double a = dot(basis[0], first);
        double b = dot(basis[1], first);
        double c = dot(basis[1], times(products, basis[1]));
        double angle = 0.5 * Math.atan2(2 * b, a - c);
        double cosine = Math.cos(angle);
        double sine = Math.sin(angle);
        int n = basis[0].length;
        double[][] axes = new double[2][n];
        for (int i = 0; i < n; i++) {
            axes[0][i] = cosine * basis[0][i] + sine * basis[1][i];
            axes[1][i] = cosine * basis[1][i] - sine * basis[0][i];
        }
        return axes;
    }

    private static PrincipalComponents coordinates(double[][] products, double[][] axes) {
        int n = products.length;
        double total = 0;
        for (int i = 0; i < n; i++) {
            total += products[i][i];
        }
        double[][] points = new double[n][2];
        double[] explained = new double[2];
        for (int axis = 0; axis < 2; axis++) {
            double eigenvalue = Math.max(0, dot(axes[axis], times(products, axes[axis])));
            double scale = Math.sqrt(eigenvalue) * sign(axes[axis]);
            for (int i = 0; i < n; i++) {
                points[i][axis] = scale * axes[axis][i];
            }
            explained[axis] = total > 0 ? Math.min(1, eigenvalue / total) : 0;
        }
        return new PrincipalComponents(points, explained);
    }

    private static double sign(double[] axis) {
        double largest = 0;
        for (double value : axis) {
            if (Math.abs(value) > Math.abs(largest) + 1e-12) {
                largest = value;
            }
        }
        return largest < 0 ? -1 : 1;
    }
}
