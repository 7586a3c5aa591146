package org.gramian.linear;

import java.util.Locale;

/**
 * Memory limits of a solver, checked before allocation: a machine that swaps seems to hang.
 *
 * @param solver word of the solver
 * @param rows number of rows n
 * @param size length of a row d
 */
record MemoryBound(String solver, long rows, long size) {
    /** Largest number of elements of all rows: 2 GiB in float32. */
    static final long MOST_NUMBERS = 1L << 29;

    private static final double GIB = 1L << 30;

    /** Largest side of a square matrix, and the bytes of an element. */
    record Square(long most, int bytes) {
        double size(long side) {
            return (double) bytes * side * side;
        }
    }

    /** Checks that the rows fit into memory. */
    void requireRows() {
        if (rows * size > MOST_NUMBERS) {
            throw refusal("the descriptors", 4.0 * rows * size, 4.0 * MOST_NUMBERS);
        }
    }

    /** Checks that the square matrix of the smaller side fits into memory. */
    void requireSquare(Square square) {
        long side = Math.min(rows, size);
        if (side > square.most) {
            throw refusal("a square matrix", square.size(side), square.size(square.most));
        }
    }

    private IllegalArgumentException refusal(String what, double needed, double most) {
        return new IllegalArgumentException(String.format(
                Locale.ROOT,
                "%d descriptors of size %d do not fit into memory for %s: %s would take %.1f GiB, the limit is %.1f"
                        + " GiB; use fewer crops, shorter descriptors (pca:64 at the beginning of the pooling), or the"
                        + " classifier softmax, which reads them in batches",
                rows,
                size,
                solver,
                what,
                needed / GIB,
                most / GIB));
    }
}
