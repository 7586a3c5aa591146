package org.gramian.linear;

import java.util.Arrays;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Rows minus their mean, or minus the mean of their class. Computes in blocks, without a second copy of the rows.
 *
 * @param rows {@code [n, d]}, float32
 * @param centres {@code [c, d]}
 * @param places {@code [n]}, index of the centre of each row
 */
record CentredRows(Tensor rows, Tensor centres, Tensor places) {
    /** Columns, or rows, of a block. */
    private static final int BLOCK = 2048;

    /** Tiles along a side of a symmetric product: 10 of 16 are computed. */
    private static final int TILES = 4;

    private static final int LEAST_TILE = 256;

    static CentredRows aroundMean(Tensor rows) {
        return of(rows, new int[Math.toIntExact(rows.size(0))], 1);
    }

    static CentredRows aroundClassMeans(LabelledRows given) {
        return of(given.rows(), given.labels(), given.classes());
    }

    private static CentredRows of(Tensor rows, int[] places, int centres) {
        int n = places.length;
        double[] counts = new double[centres];
        Arrays.stream(places).forEach(place -> counts[place]++);
        double[] parts = new double[centres * n];
        for (int i = 0; i < n; i++) {
            parts[places[i] * n + i] = 1 / counts[places[i]];
        }
        Tensor averaging = Tensors.of(parts, Shape.of(centres, n), DType.F32).to(rows.device());
        return new CentredRows(rows, averaging.matmul(rows), index(places, rows.device()));
    }

    private long count() {
        return rows.size(0);
    }

    private long size() {
        return rows.size(1);
    }

    /** Returns columns of the centred rows {@code [n, to − from]}. */
    private Tensor columns(long from, long to) {
        return rows.slice(1, from, to).sub(centres.slice(1, from, to).select(0, places));
    }

    /** Returns the centred rows of some indices, float64. */
    Tensor some(int[] which) {
        Tensor index = index(which, rows.device());
        return rows.select(0, index)
                .sub(centres.select(0, places.select(0, index)))
                .to(DType.F64);
    }

    static Tensor index(int[] which, Device device) {
        long[] wide = Arrays.stream(which).asLongStream().toArray();
        return Tensors.ofLongs(wide, Shape.of(wide.length)).to(device);
    }

    interface Block {
        void use(Tensor block, long from, long to);
    }

    private void eachColumns(Block block) {
        each(size(), (from, to) -> block.use(columns(from, to), from, to));
    }

    void eachRows(Block block) {
        each(count(), (from, to) -> {
            Tensor centred = rows.slice(0, from, to).sub(centres.select(0, places.slice(0, from, to)));
            block.use(centred.to(DType.F64), from, to);
        });
    }

    private interface Range {
        void use(long from, long to);
    }

    private static void each(long all, Range range) {
        for (long from = 0; from < all; from += BLOCK) {
            try (Scope _ = Scope.open()) {
                range.use(from, Math.min(all, from + BLOCK));
            }
        }
    }

    /** Returns all centred rows: a copy as large as the rows. */
    Tensor all() {
        return columns(0, size());
    }

    /** Returns the root of the mean squared length; 1 if all rows are equal. */
    double scale() {
        double square = meanSquare();
        return square > 0 ? Math.sqrt(square) : 1;
    }

    double meanSquare() {
        double[] sum = new double[1];
        eachColumns(
                (block, _, _) -> sum[0] += block.mul(block).to(DType.F64).sum().item());
        return sum[0] / count();
    }

    /** Returns the Gram matrix {@code XXᵀ [n, n]}: tiles on and below the diagonal are computed, the others mirrored. */
    Tensor gram() {
        long n = count();
        long side = Math.max(LEAST_TILE, Math.ceilDiv(n, TILES));
        Tensor sum = Tensors.zeros(Shape.of(1, n, n), DType.F32, rows.device());
        eachColumns((block, _, _) -> {
            Tensor one = block.unsqueeze(0);
            for (long row = 0; row < n; row += side) {
                Tensor left = one.slice(1, row, Math.min(n, row + side));
                for (long column = 0; column <= row; column += side) {
                    Tensor right = one.slice(1, column, Math.min(n, column + side));
                    tile(sum, row, column, side).addProducts(1, 1, left, right.transpose());
                }
            }
        });
        for (long row = side; row < n; row += side) {
            for (long column = 0; column < row; column += side) {
                tile(sum, column, row, side)
                        .copyFrom(tile(sum, row, column, side).transpose());
            }
        }
        return sum.reshape(n, n);
    }

    private static Tensor tile(Tensor matrix, long row, long column, long side) {
        long n = matrix.size(1);
        Tensor rows = matrix.slice(1, row, Math.min(n, row + side));
        return rows.slice(2, column, Math.min(n, column + side));
    }

    /** Returns the scatter matrix {@code XᵀX [d, d]}, float64. */
    Tensor scatter() {
        long d = size();
        Tensor sum = Tensors.zeros(Shape.of(1, d, d), DType.F64, rows.device());
        eachRows((block, _, _) -> {
            Tensor one = block.unsqueeze(0);
            sum.addProducts(1, 1, one.transpose(), one);
        });
        return sum.reshape(d, d);
    }

    /** Returns {@code CX [k, d]} for {@code c [k, n]}. */
    Tensor combined(Tensor c) {
        Tensor result = Tensors.empty(Shape.of(c.size(0), size()), DType.F32, rows.device());
        eachColumns((block, from, to) -> result.slice(1, from, to).copyFrom(c.matmul(block)));
        return result;
    }
}
