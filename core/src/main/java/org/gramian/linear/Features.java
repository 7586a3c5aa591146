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

    /** In the shorter of the two forms; its memory belongs to the scope that is open. */
    static Features of(LabelledRows rows) {
        CentredRows centred = CentredRows.aroundMean(rows);
        double square = centred.meanSquare();
        double scale = square > 0 ? Math.sqrt(square) : 1; // rows that are all the same
        boolean products = rows.size() > rows.count();
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

    /** The zero function, to be built up. */
    Function zero() {
        return products ? new OfProducts() : new OfRows();
    }

    /** {@code f(x_i) = Σ_j β_j x_j·x_i}, which changes one β at a time. */
    sealed interface Function {
        double at(int i);

        /** {@code β_i ← β_i + amount}. */
        void add(int i, double amount);
    }

    /** Values at all rows are kept: asking costs nothing, a change n. */
    private final class OfProducts implements Function {
        private final double[] values = new double[count];

        @Override
        public double at(int i) {
            return values[i];
        }

        @Override
        public void add(int i, double amount) {
            MemorySegment row = row(i);
            for (int j = 0; j < count; j++) {
                values[j] += amount * (row.getAtIndex(JAVA_FLOAT, j) + 1);
            }
        }
    }

    /** The weight vector is kept: asking and changing cost d. */
    private final class OfRows implements Function {
        private final double[] weight = new double[width];
        private double bias;

        @Override
        public double at(int i) {
            MemorySegment row = row(i);
            double a = bias;
            double b = 0;
            double c = 0;
            double d = 0;
            int j = 0;
            for (; j + 3 < width; j += 4) { // four sums, for one would wait for itself
                a += weight[j] * row.getAtIndex(JAVA_FLOAT, j);
                b += weight[j + 1] * row.getAtIndex(JAVA_FLOAT, j + 1);
                c += weight[j + 2] * row.getAtIndex(JAVA_FLOAT, j + 2);
                d += weight[j + 3] * row.getAtIndex(JAVA_FLOAT, j + 3);
            }
            for (; j < width; j++) {
                a += weight[j] * row.getAtIndex(JAVA_FLOAT, j);
            }
            return a + b + (c + d);
        }

        @Override
        public void add(int i, double amount) {
            MemorySegment row = row(i);
            for (int j = 0; j < width; j++) {
                weight[j] += amount * row.getAtIndex(JAVA_FLOAT, j);
            }
            bias += amount;
        }
    }
}
