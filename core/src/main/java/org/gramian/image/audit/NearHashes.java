package org.gramian.image.audit;

import java.nio.IntBuffer;

/**
 * Finds all pairs of 64-bit hashes that differ in few bits, without comparing each with each.
 *
 * <p>A hash is four bands of 16 bits. Where two hashes differ in at most 7 bits, some band differs in at most one: so
 * looking up every band, and each band with one bit flipped, misses none (Norouzi, Punjani and Fleet, "Fast Search in
 * Hamming Space with Multi-Index Hashing", CVPR 2012). For {@code n} hashes that are spread out this takes {@code 68·n}
 * lookups of {@code n / 65536} hashes each. Hashes that crowd together, as of a fixed camera, are compared each with each,
 * which a few operations on bits do: 20,000 of them take about a second.
 */
final class NearHashes {
    private static final int BANDS = 4;
    private static final int BITS = 16;
    private static final int VALUES = 1 << BITS;

    private final long[] hashes;
    private final int distance;

    NearHashes(long[] hashes, int distance) {
        if (distance < 0 || distance > AuditOptions.MOST_BITS) {
            throw new IllegalArgumentException(
                    "expected a distance of 0 to " + AuditOptions.MOST_BITS + " bits, found " + distance);
        }
        this.hashes = hashes.clone();
        this.distance = distance;
    }

    /** Told of a pair of near hashes, the smaller index first. */
    @FunctionalInterface
    interface Pair {
        void found(int first, int second);
    }

    /** Tells every pair once, in an order that the hashes alone decide. */
    void forEach(Pair pair) {
        for (int band = 0; band < BANDS; band++) {
            int[] start = starts(band);
            int[] sorted = sorted(band, start);
            for (int i = 0; i < hashes.length; i++) {
                int value = band(hashes[i], band);
                compare(i, band, bucket(sorted, start, value), pair);
                for (int bit = 0; bit < BITS; bit++) {
                    compare(i, band, bucket(sorted, start, value ^ 1 << bit), pair);
                }
            }
        }
    }

    private static IntBuffer bucket(int[] sorted, int[] start, int value) {
        return IntBuffer.wrap(sorted, start[value], start[value + 1] - start[value]);
    }

    private void compare(int i, int band, IntBuffer others, Pair pair) {
        while (others.hasRemaining()) {
            int other = others.get();
            if (other >= i) {
                return; // they ascend
            }
            long differing = hashes[i] ^ hashes[other];
            if (Long.bitCount(differing) <= distance && isFirst(band, differing)) {
                pair.found(other, i);
            }
        }
    }

    /** Whether no band before this one brings the two hashes together already. */
    private static boolean isFirst(int band, long differing) {
        for (int before = 0; before < band; before++) {
            if (Integer.bitCount(band(differing, before)) <= 1) {
                return false;
            }
        }
        return true;
    }

    /** Where the hashes of each value of a band begin among those sorted by it. */
    private int[] starts(int band) {
        int[] start = new int[VALUES + 1];
        for (long hash : hashes) {
            start[band(hash, band) + 1]++;
        }
        for (int value = 0; value < VALUES; value++) {
            start[value + 1] += start[value];
        }
        return start;
    }

    /** The indices of the hashes, by their band's value, then ascending. */
    private int[] sorted(int band, int[] start) {
        int[] next = start.clone();
        int[] sorted = new int[hashes.length];
        for (int i = 0; i < hashes.length; i++) {
            sorted[next[band(hashes[i], band)]++] = i;
        }
        return sorted;
    }

    private static int band(long hash, int band) {
        return (int) (hash >>> (band * BITS)) & (VALUES - 1);
    }
}
