package org.gramian.image;

import java.util.Arrays;
import java.util.stream.LongStream;

/**
 * Which pixels along an axis make up each pixel of the resized axis, and with what weights.
 *
 * <p>With {@code n} pixels that become {@code m}, the weight {@code 1 − |(j + ½) − (i + ½)·n/m| / max(1, n/m)} is, times {@code
 * 2·max(n, m)}, the whole number {@code 2·max(n, m) − |(2j + 1)·m − (2i + 1)·n|}. It is the same seen from the other end, which
 * makes resizing and mirroring commute exactly.
 */
final class FilterWeights {
    /** Weights are multiples of {@code 2^−22}: a byte times their sum still fits in 31 bits. */
    static final int SHIFT = 22;
    /** Half of one, for rounding. */
    static final int HALF = 1 << (SHIFT - 1);

    private final int[] first;
    private final int[][] weights;

    private FilterWeights(int[] first, int[][] weights) {
        this.first = first;
        this.weights = weights;
    }

    /** @param from pixels along the axis, {@code n}, at most a few thousand times {@code to} */
    static FilterWeights of(int from, int to) {
        int[] first = new int[to];
        int[][] weights = new int[to][];
        long reach = 2L * Math.max(from, to);
        for (int i = 0; i < to; i++) {
            long centre = (2L * i + 1) * from;
            // The pixels with |(2j + 1)·to − centre| < reach, and more with weight zero to make them four.
            int begin = (int) Math.max(0, Math.floorDiv(centre - reach - to, 2L * to) + 1);
            int end = (int) Math.min(from, Math.ceilDiv(centre + reach - to, 2L * to));
            int count = Math.min(from, Math.max(4, end - begin));
            first[i] = Math.min(begin, from - count);
            long[] parts = new long[count];
            for (int j = 0; j < count; j++) {
                parts[j] = Math.max(0, reach - Math.abs((2L * (first[i] + j) + 1) * to - centre));
            }
            weights[i] = normalized(parts);
        }
        return new FilterWeights(first, weights);
    }

    private static int[] normalized(long[] parts) {
        long sum = LongStream.of(parts).sum();
        int[] weights = new int[parts.length];
        for (int j = 0; j < parts.length; j++) {
            weights[j] = (int) Math.round((double) parts[j] / sum * (1 << SHIFT));
        }
        return weights;
    }

    /** Pixels of the result. */
    int size() {
        return first.length;
    }

    /** Those of the pixels from one of the result to before another. */
    FilterWeights part(int from, int to) {
        return new FilterWeights(Arrays.copyOfRange(first, from, to), Arrays.copyOfRange(weights, from, to));
    }

    /** One behind the last pixel that has a part in the result. */
    int end() {
        int end = 0;
        for (int i = 0; i < first.length; i++) {
            end = Math.max(end, first[i] + weights[i].length);
        }
        return end;
    }

    /** Whether every window is of four pixels. */
    boolean areFours() {
        for (int[] window : weights) {
            if (window.length != 4) {
                return false;
            }
        }
        return true;
    }

    /** The first pixel that may have a part in pixel {@code i} of the result. */
    int first(int i) {
        return first[i];
    }

    /** The weights of that pixel and those after it; their sum is {@code 2^22}, up to rounding. */
    int[] at(int i) {
        return weights[i];
    }
}
