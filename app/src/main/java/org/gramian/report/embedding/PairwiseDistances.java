package org.gramian.report.embedding;

import java.util.List;
import java.util.stream.IntStream;

/** Squared Euclidean distances {@code ‖x_i - x_j‖²} between all pairs of vectors. */
public final class PairwiseDistances {
    /** Most vectors: memory and time are quadratic. */
    public static final int MOST = 4_000;

    private final double[][] squares;

    private PairwiseDistances(double[][] squares) {
        this.squares = squares;
    }

    /**
     * Computes the distances between vectors of equal length.
     *
     * @throws IllegalArgumentException if lengths differ, a number is not finite, or there are more than {@value #MOST}
     */
    public static PairwiseDistances of(List<float[]> vectors) {
        require(vectors);
        int n = vectors.size();
        double[][] squares = new double[n][n];
        IntStream.range(0, n).parallel().forEach(i -> {
            for (int j = 0; j < n; j++) {
                // (i, j) and (j, i) sum the same terms in the same order, so the table is symmetric to the bit.
                squares[i][j] = square(vectors.get(Math.min(i, j)), vectors.get(Math.max(i, j)));
            }
        });
        return new PairwiseDistances(squares);
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

    /** Returns the symmetric matrix {@code [n, n]} itself, not a copy: it may be large. */
    double[][] squares() {
        return squares;
    }

    /** Returns the number of vectors. */
    public int size() {
        return squares.length;
    }
}
