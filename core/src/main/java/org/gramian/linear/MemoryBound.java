package org.gramian.linear;

import java.util.Locale;

/**
 * Bounds on the memory of a solver, checked before allocation: a machine that swaps seems to hang.
 *
 * @param solver its word
 * @param rows how many it is to learn from
 * @param size their length
 */
record MemoryBound(String solver, long rows, long size) {
    /** Numbers of all rows together: 2 GiB in single precision. */
    static final long MOST_NUMBERS = 1L << 29;

    private static final double GIB = 1L << 30;

    /** The longest side of a square matrix that is taken, and the bytes of a number in it. */
    record Square(long most, int bytes) {
        double size(long side) {
            return (double) bytes * side * side;
        }
    }

    /** Makes sure that the rows themselves fit. */
    void requireRows() {
        if (rows * size > MOST_NUMBERS) {
            throw refusal("the descriptors", 4.0 * rows * size, 4.0 * MOST_NUMBERS);
        }
    }

    /** Makes sure that the square matrix of the smaller side fits. */
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
