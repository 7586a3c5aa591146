package org.gramian.linear;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;

/**
 * Input of coordinate descent, in memory that many threads may read: the rows {@code [n, d]}, or their Gram matrix {@code [n, n]} if
 * that is smaller or faster.
 *
 * <p>Rows are {@code ((x − m)/s, 1)} with their mean m and {@code s² = mean ‖x − m‖²}, so that C does not depend on the scale of the
 * descriptors.
 */
final class Features {
    /** Largest side of the Gram matrix. */
    static final int MOST_PRODUCTS = 20_000;

    private final CentredRows centred;

    private final double scale;
    private final boolean products;
    private final MemorySegment numbers;
    private final int count;
    private final int width;
    private final double[] squares;

    private Features(CentredRows centred, double scale, boolean products, Tensor matrix) {
        this.centred = centred;
        this.scale = scale;
        this.products = products;
        this.numbers = matrix.data();
        this.count = Math.toIntExact(matrix.size(0));
        this.width = Math.toIntExact(matrix.size(1));
        this.squares = new double[count];
        for (int i = 0; i < count; i++) {
            squares[i] = 1 + (products ? row(i).getAtIndex(JAVA_FLOAT, i) : squareOf(row(i)));
        }
    }

    /** Whether the Gram matrix is stored: an update costs n with it and 2d without. */
    static boolean usesProducts(long count, long size) {
        return size > count || (2 * size > count && count <= MOST_PRODUCTS);
    }

    /** Creates the cheaper of the two forms; its memory belongs to the open scope. */
    static Features of(LabelledRows rows) {
        CentredRows centred = CentredRows.aroundMean(rows);
        double scale = centred.scale();
        boolean products = usesProducts(rows.count(), rows.size());
        Tensor matrix = products
                ? centred.gram().mulInPlace(1 / (scale * scale))
                : centred.all().mulInPlace(1 / scale);
        return new Features(centred, scale, products, matrix.to(Device.CPU).contiguous());
    }

    private double squareOf(MemorySegment row) {
        double sum = 0;
        for (int j = 0; j < width; j++) {
            double x = row.getAtIndex(JAVA_FLOAT, j);
            sum += x * x;
        }
        return sum;
    }

    private MemorySegment row(int i) {
        long bytes = (long) width * Float.BYTES;
        return numbers.asSlice(i * bytes, bytes);
    }

    int count() {
        return count;
    }

    /** Returns the squared length of a row with its constant 1. */
    double square(int i) {
        return squares[i];
    }

    CentredRows centred() {
        return centred;
    }

    double scale() {
        return scale;
    }

    /** Returns the length of a stored row: n for the Gram matrix, else d. */
    int width() {
        return width;
    }

    /** Whether a {@link Function} keeps its values at all rows, as with the Gram matrix. */
    boolean keepsValues() {
        return products;
    }

    /** Copies a stored row: loops over arrays are vectorized and five times as fast as over segments. */
    void read(int i, float[] target) {
        MemorySegment.copy(numbers, JAVA_FLOAT, (long) i * width * Float.BYTES, target, 0, width);
    }

    /** Returns the zero function. */
    Function zero() {
        return new Function(width);
    }

    /**
     * {@code f(x_i) = Σ_j β_j x_j·x_i}, whose coefficients change one at a time. With the Gram matrix it keeps f at all rows: evaluation is
     * free, an update costs n. Else it keeps the weight vector: both cost d.
     */
    static final class Function {
        private final double[] numbers;
        private double bias;

        private Function(int width) {
            this.numbers = new double[width];
        }

        /** Returns the kept value at a row. */
        double at(int i) {
            return numbers[i] + bias;
        }

        /** Returns the value at a row by the weight vector. */
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
    }
}
