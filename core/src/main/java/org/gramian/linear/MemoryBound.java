package org.gramian.linear;

import java.util.Locale;

/** Memory limits of the solvers, checked before allocation: a machine that swaps seems to hang. */
final class MemoryBound {
    /** Largest number of elements of all rows: 2 GiB in float32. */
    private static final long MOST_NUMBERS = 1L << 29;

    private static final double GIB = 1L << 30;

    private MemoryBound() {}

    /** Checks that n rows of length d fit into memory. */
    static void requireRows(String solver, long rows, long size) {
        if (rows * size > MOST_NUMBERS) {
            throw refusal(solver, rows, size, "the descriptors", 4.0 * rows * size, 4.0 * MOST_NUMBERS);
        }
    }

    /**
     * Checks that the square matrix of side {@code min(n, d)} fits into memory.
     *
     * @param most largest side
     * @param bytes of an element
     */
    static void requireSquare(String solver, long rows, long size, long most, double bytes) {
        long side = Math.min(rows, size);
        if (side > most) {
            throw refusal(solver, rows, size, "a square matrix", bytes * side * side, bytes * most * most);
        }
    }

    private static IllegalArgumentException refusal(
            String solver, long rows, long size, String what, double needed, double most) {
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
