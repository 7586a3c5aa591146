package org.gramian.image.resize;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.gramian.image.Image;

/**
 * Antialiased resizing with a triangle (bilinear) filter that widens with the reduction.
 *
 * <p>Along one axis of {@code n} pixels that becomes one of {@code m}, pixel {@code i} of the result is the mean of the pixels
 * {@code j} with weights
 *
 * <pre>
 * w(i, j) = max(0, 1 − |(j + ½) − (i + ½)·n/m| / max(1, n/m))
 * </pre>
 *
 * divided by their sum. Columns first, then rows, each rounded to bytes, as Pillow's {@code BILINEAR}. Integer arithmetic makes
 * resizing and flipping commute exactly. Constant areas stay constant.
 */
public final class Resize {
    /** Larger reductions go in steps, so that weights do not round to 0. */
    private static final int MAX_REDUCTION = 2048;

    private Resize() {}

    /**
     * A part of an image.
     *
     * @param left first column
     * @param top first row
     */
    public record Window(int left, int top, int width, int height) {}

    /**
     * Resizes an image; the aspect ratio may change.
     *
     * @throws IllegalArgumentException if the size has no pixels or more than an image can hold
     */
    public static Image to(Image image, int width, int height) {
        requireSize(image, width, height);
        Image narrowed = image.width() == width ? image : columns(image, width);
        return narrowed.height() == height ? narrowed : rows(narrowed, height);
    }

    /**
     * Returns a window of {@code to(image, width, height)}, bit-identical, without computing the rest.
     *
     * @throws IllegalArgumentException if the size is one that {@link #to} refuses, or the window does not lie inside it
     */
    public static Image part(Image image, int width, int height, Window window) {
        requireSize(image, width, height);
        if (goesInSteps(image.width(), width) || goesInSteps(image.height(), height)) {
            return to(image, width, height).crop(window.left, window.top, window.width, window.height);
        }
        int right = window.left + window.width;
        int bottom = window.top + window.height;
        if (window.left < 0
                || window.top < 0
                || window.width < 1
                || window.height < 1
                || right > width
                || bottom > height) {
            throw new IllegalArgumentException(
                    "expected a window inside " + width + "×" + height + " pixels, found " + window);
        }
        boolean sameRows = image.height() == height;
        FilterWeights down = FilterWeights.of(image.height(), height).part(window.top, bottom);
        int first = sameRows ? window.top : down.first(0);
        int end = sameRows ? bottom : down.end();
        Image narrowed = image.width() == width
                ? image.crop(window.left, first, window.width, end - first)
                : columns(image, FilterWeights.of(image.width(), width).part(window.left, right), first, end);
        return sameRows ? narrowed : rows(narrowed, down, first);
    }

    private static void requireSize(Image image, int width, int height) {
        if (width < 1 || height < 1 || 3L * width * Math.max(height, image.height()) > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException("expected a size of at least one pixel and of less than 2 GiB, found "
                    + width + "×" + height + " for an image of " + image);
        }
    }

    private static boolean goesInSteps(int from, int to) {
        return Math.ceilDiv(from, MAX_REDUCTION) > to;
    }

    /** Resizes to a short side, keeping the aspect ratio up to rounding. */
    public static Image shortSide(Image image, int side) {
        int width = image.width();
        int height = image.height();
        return width <= height
                ? to(image, side, scaled(height, side, width))
                : to(image, scaled(width, side, height), side);
    }

    /** {@code length·side/shorter}, rounded; not less than {@code side}, since {@code length} is not less than {@code shorter}. */
    private static int scaled(int length, int side, int shorter) {
        return Math.toIntExact(Math.round((double) length * side / shorter));
    }

    private static Image columns(Image image, int width) {
        if (goesInSteps(image.width(), width)) {
            return columns(columns(image, Math.ceilDiv(image.width(), MAX_REDUCTION)), width);
        }
        return columns(image, FilterWeights.of(image.width(), width), 0, image.height());
    }

    /** Resizes the columns of the rows from {@code top} to {@code bottom}, exclusive. */
    private static Image columns(Image image, FilterWeights weights, int top, int bottom) {
        byte[] to = new byte[3 * weights.size() * (bottom - top)];
        boolean fours = weights.areFours();
        for (int y = top; y < bottom; y++) {
            int start = 3 * y * image.width();
            int target = 3 * (y - top) * weights.size();
            if (fours) {
                fours(weights, image.rgb(), start, to, target);
            } else {
                windows(weights, image.rgb(), start, to, target);
            }
        }
        return new Image(weights.size(), bottom - top, to);
    }

    private static void windows(FilterWeights weights, byte[] from, int start, byte[] to, int at) {
        int target = at;
        for (int x = 0; x < weights.size(); x++) {
            int source = start + 3 * weights.first(x);
            int red = FilterWeights.HALF;
            int green = FilterWeights.HALF;
            int blue = FilterWeights.HALF;
            for (int weight : weights.at(x)) {
                red += weight * (from[source] & 0xff);
                green += weight * (from[source + 1] & 0xff);
                blue += weight * (from[source + 2] & 0xff);
                source += 3;
            }
            to[target++] = (byte) (red >> FilterWeights.SHIFT);
            to[target++] = (byte) (green >> FilterWeights.SHIFT);
            to[target++] = (byte) (blue >> FilterWeights.SHIFT);
        }
    }

    /** The common case of windows of four pixels, up to a reduction by 1.5, in half the time. */
    private static void fours(FilterWeights weights, byte[] from, int start, byte[] to, int at) {
        int target = at;
        for (int x = 0; x < weights.size(); x++) {
            int source = start + 3 * weights.first(x);
            int[] window = weights.at(x);
            int a = window[0];
            int b = window[1];
            int c = window[2];
            int d = window[3];
            for (int channel = 0; channel < 3; channel++) {
                int sum = a * (from[source] & 0xff)
                        + b * (from[source + 3] & 0xff)
                        + c * (from[source + 6] & 0xff)
                        + d * (from[source + 9] & 0xff);
                to[target++] = (byte) ((sum + FilterWeights.HALF) >> FilterWeights.SHIFT);
                source++;
            }
        }
    }

    private static Image rows(Image image, int height) {
        if (goesInSteps(image.height(), height)) {
            return rows(rows(image, Math.ceilDiv(image.height(), MAX_REDUCTION)), height);
        }
        return rows(image, FilterWeights.of(image.height(), height), 0);
    }

    /** @param top number of the image's first row among those that the weights are of */
    private static Image rows(Image image, FilterWeights weights, int top) {
        int height = weights.size();
        int stride = 3 * image.width();
        byte[] to = new byte[stride * height];
        int[] sums = new int[stride];
        for (int y = 0; y < height; y++) {
            Arrays.fill(sums, FilterWeights.HALF);
            int row = weights.first(y) - top;
            for (int weight : weights.at(y)) {
                if (weight != 0) {
                    add(sums, image.rgb(), stride * row, weight);
                }
                row++;
            }
            for (int i = 0; i < stride; i++) {
                to[stride * y + i] = (byte) (sums[i] >> FilterWeights.SHIFT);
            }
        }
        return new Image(image.width(), height, to);
    }

    private static void add(int[] sums, byte[] values, int from, int weight) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] += weight * (values[from + i] & 0xff);
        }
    }

    /**
     * The source pixels and weights of each pixel of a resized axis.
     *
     * <p>With {@code n} pixels that become {@code m}, the weight {@code 1 − |(j + ½) − (i + ½)·n/m| / max(1, n/m)} is,
     * times {@code 2·max(n, m)}, the whole number {@code 2·max(n, m) − |(2j + 1)·m − (2i + 1)·n|}. It is the same seen
     * from the other end, which makes resizing and mirroring commute exactly.
     */
    private static final class FilterWeights {
        /** Weights are multiples of {@code 2^−22}: a byte times their sum still fits in 31 bits. */
        static final int SHIFT = 22;

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

        int size() {
            return first.length;
        }

        /** Returns the weights of a range of result pixels, {@code to} exclusive. */
        FilterWeights part(int from, int to) {
            return new FilterWeights(Arrays.copyOfRange(first, from, to), Arrays.copyOfRange(weights, from, to));
        }

        int end() {
            int end = 0;
            for (int i = 0; i < first.length; i++) {
                end = Math.max(end, first[i] + weights[i].length);
            }
            return end;
        }

        boolean areFours() {
            return Arrays.stream(weights).allMatch(window -> window.length == 4);
        }

        /** Returns the first source pixel of pixel {@code i} of the result. */
        int first(int i) {
            return first[i];
        }

        /** Returns the weights from that pixel on; their sum is {@code 2^22}, up to rounding. */
        int[] at(int i) {
            return weights[i];
        }
    }
}
