package org.gramian.report.embedding;

import java.util.List;
import java.util.stream.IntStream;

/** The squared Euclidean distances {@code ‖x_i - x_j‖²} between all pairs of vectors. */
public final class Distances {
    /** Beyond this the table of pairs and the work of a map grow out of proportion to what an eye can see. */
    public static final int MOST = 4_000;

    private final double[][] squares;

    private Distances(double[][] squares) {
        this.squares = squares;
    }

    /**
     * Between vectors of one length.
     *
     * @throws IllegalArgumentException if lengths differ, a number is not finite, or there are more than {@value #MOST}
     */
    public static Distances of(List<float[]> vectors) {
        require(vectors);
        int n = vectors.size();
        double[][] squares = new double[n][n];
        IntStream.range(0, n).parallel().forEach(i -> {
            for (int j = 0; j < n; j++) {
                // (i, j) and (j, i) sum the same terms in the same order, so the table is symmetric to the bit.
                squares[i][j] = square(vectors.get(Math.min(i, j)), vectors.get(Math.max(i, j)));
            }
        });
        return new Distances(squares);
    }

    private static void require(List<float[]> vectors) {
        if (vectors.size() > MOST) {
            throw new IllegalArgumentException(
                    "expected at most " + MOST + " vectors to embed, found " + vectors.size() + "; sample them");
        }
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
    }

    private static double square(float[] a, float[] b) {
        double sum = 0;
        for (int k = 0; k < a.length; k++) {
            double difference = (double) a[k] - b[k];
            sum += difference * difference;
        }
        return sum;
    }

    /** The table {@code [n][n]}, symmetric, 0 on the diagonal; not a copy, for it may be large. */
    double[][] squares() {
        return squares;
    }

    /** How many vectors there are. */
    public int size() {
        return squares.length;
    }
}
