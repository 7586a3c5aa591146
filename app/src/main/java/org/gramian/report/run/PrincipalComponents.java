package org.gramian.report.run;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Projection to the first two principal components.
 *
 * <p>Computed from distances, as there are far fewer points than dimensions: {@code B = -½ J D² J}, {@code J = I - 11ᵀ/n},
 * holds the centred inner products, and its leading eigenvectors times the roots of their eigenvalues are the coordinates
 * (classical scaling, Torgerson 1952; equal to PCA for Euclidean distances). The eigenvectors come from power iteration; the
 * coordinate largest in magnitude is made positive, so that the result is deterministic.
 *
 * @param explained explained variance ratio of both axes
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor changed
record PrincipalComponents(double[][] points, double[] explained) {
    private static final int MAX_ROUNDS = 300;
    private static final double TOLERANCE = 1e-14;

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
        double total = IntStream.range(0, n).mapToDouble(i -> products[i][i]).sum();
        double[][] axes = new double[2][];
        double[][] points = new double[n][2];
        double[] explained = new double[2];
        for (int axis = 0; axis < 2; axis++) {
            double[] vector = start(n, axis);
            double eigenvalue = 0;
            double change = 1;
            for (int round = 0; round < MAX_ROUNDS && change > TOLERANCE * eigenvalue; round++) {
                vector = times(products, vector);
                if (axis == 1) {
                    double overlap = dot(axes[0], vector);
                    for (int i = 0; i < n; i++) {
                        vector[i] -= overlap * axes[0][i];
                    }
                }
                double before = eigenvalue;
                eigenvalue = normalize(vector);
                change = Math.abs(eigenvalue - before);
            }
            axes[axis] = vector;
            double scale = Math.sqrt(eigenvalue) * sign(vector);
            for (int i = 0; i < n; i++) {
                points[i][axis] = scale * vector[i];
            }
            explained[axis] = total > 0 ? Math.min(1, eigenvalue / total) : 0;
        }
        return new PrincipalComponents(points, explained);
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
    private static double[] start(int n, int axis) {
        return IntStream.range(0, n)
                .mapToDouble(i -> Math.sin((i + 1) * (axis == 0 ? 12.9898 : 78.233)))
                .toArray();
    }

    private static double[] times(double[][] matrix, double[] vector) {
        return Arrays.stream(matrix).mapToDouble(row -> dot(row, vector)).toArray();
    }

    private static double dot(double[] a, double[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += a[i] * b[i];
        }
        return sum;
    }

    /** Divides by the norm, which is returned; a vector of zeros stays. */
    private static double normalize(double[] vector) {
        double length = Math.sqrt(dot(vector, vector));
        for (int i = 0; i < vector.length; i++) {
            vector[i] = length < 1e-300 ? 0 : vector[i] / length;
        }
        return length;
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
