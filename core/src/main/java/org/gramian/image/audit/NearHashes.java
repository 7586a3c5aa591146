package org.gramian.image.audit;

import java.util.Arrays;

/**
 * Finds all pairs of 64-bit hashes that differ in few bits, without comparing each with each.
 *
 * <p>A hash is four bands of 16 bits. Where two hashes differ in at most 7 bits, some band differs in at most one, so
 * looking up every band, and each band with one bit flipped, finds all pairs (Norouzi, Punjani and Fleet, "Fast Search in
 * Hamming Space with Multi-Index Hashing", CVPR 2012). For {@code n} uniform hashes this takes {@code 68·n} lookups of
 * {@code n / 65536} hashes each. Clustered hashes, as of a fixed camera, are compared pairwise.
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

    /** Receives a pair of near hashes, the smaller index first. */
    @FunctionalInterface
    interface Pair {
        void found(int first, int second);
    }

    /** Passes on every pair once, in an order that depends on the hashes only. */
    void forEach(Pair pair) {
        for (int band = 0; band < BANDS; band++) {
            int[] start = starts(band);
            int[] sorted = sorted(band, start);
            long[] sortedHashes = new long[sorted.length]; // contiguous, which halves the time of a bucket
            Arrays.setAll(sortedHashes, i -> hashes[sorted[i]]);
            for (int i = 0; i < hashes.length; i++) {
                int value = band(hashes[i], band);
                for (int bit = -1; bit < BITS; bit++) {
                    int bucket = bit < 0 ? value : value ^ 1 << bit;
                    int end = start[bucket + 1];
                    for (int k = start[bucket]; k < end && sorted[k] < i; k++) { // indexes ascend in a bucket
                        long differing = hashes[i] ^ sortedHashes[k];
                        if (Long.bitCount(differing) <= distance && isFirst(band, differing)) {
                            pair.found(sorted[k], i);
                        }
                    }
                }
            }
        }
    }

    /** Returns whether no band before this one finds the pair. */
    private static boolean isFirst(int band, long differing) {
        for (int before = 0; before < band; before++) {
            if (Integer.bitCount(band(differing, before)) <= 1) {
                return false;
            }
        }
        return true;
    }

    /** Returns where each value of a band begins among the hashes sorted by it. */
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

    /** Returns the indexes of the hashes, sorted by the value of a band, then ascending. */
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
