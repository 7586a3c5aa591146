package org.gramian.linear;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * What coordinate descent reads of n rows, in memory that many threads may read: the rows themselves where they are short,
 * their products with one another where they are longer than many.
 *
 * <p>Rows are {@code (x − m)/s} with a 1 behind them, m their mean and {@code s² = mean ‖x − m‖²}: then descriptors of any
 * origin and unit pose the same problem, and C means the same for all of them.
 */
final class Features {
    /** Most rows whose products are stored. */
    static final int MOST_PRODUCTS = 20_000;

    /** Mean m of the rows, and themselves. */
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

    /** Whether products of rows are stored: a change costs n with them and 2d without. */
    static boolean usesProducts(long count, long size) {
        return size > count || (2 * size > count && count <= MOST_PRODUCTS);
    }

    /** In the cheaper of the two forms; its memory belongs to the scope that is open. */
    static Features of(LabelledRows rows) {
        CentredRows centred = CentredRows.aroundMean(rows);
        double scale = centred.scale();
        boolean products = usesProducts(rows.count(), rows.size());
        Tensor matrix = products
                ? Elementwise.mulInPlace(centred.gram(), 1 / (scale * scale))
                : Elementwise.mulInPlace(centred.all(), 1 / scale);
        return new Features(centred, scale, products, Views.contiguous(Tensors.to(matrix, Device.CPU)));
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

    /** Squared length of a row, its 1 included. */
    double square(int i) {
        return squares[i];
    }

    CentredRows centred() {
        return centred;
    }

    double scale() {
        return scale;
    }

    /** Length of a stored row: n where products are stored, else d. */
    int width() {
        return width;
    }

    /** Whether a {@link Function} keeps its values at all rows; else it is evaluated on a row that was read. */
    boolean keepsValues() {
        return products;
    }

    /** Copies a stored row: loops over arrays are compiled to vector instructions, over segments five times slower ones. */
    void read(int i, float[] target) {
        MemorySegment.copy(numbers, JAVA_FLOAT, (long) i * width * Float.BYTES, target, 0, width);
    }

    /** Returns the zero function. */
    Function zero() {
        return new Function(width);
    }

    /**
     * {@code f(x_i) = Σ_j β_j x_j·x_i}, whose coefficients change one at a time. Where products are stored it keeps f at all
     * rows: evaluation is free, a change costs n. Else it keeps the weight vector: both cost d.
     */
    static final class Function {
        private final double[] numbers;
        private double bias;

        private Function(int width) {
            this.numbers = new double[width];
        }

        /** Value at a row, where values are kept. */
        double at(int i) {
            return numbers[i] + bias;
        }

        /** Value at a row that was read, where the weight vector is kept. */
        double at(float[] row) {
            double a = bias;
            double b = 0;
            double c = 0;
            double d = 0;
            int j = 0;
            for (; j + 3 < numbers.length; j += 4) { // four sums: one would wait for itself
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

        /** {@code β_i ← β_i + amount}, with the row i that was read. */
        void add(float[] row, double amount) {
            for (int j = 0; j < numbers.length; j++) {
                numbers[j] += amount * row[j];
            }
            bias += amount;
        }
    }
}
