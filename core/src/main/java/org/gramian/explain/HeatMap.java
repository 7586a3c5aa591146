package org.gramian.explain;

import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;

/**
 * A number for every pixel of an image, or of a smaller one with its aspect ratio: how much what is seen there speaks for a
 * class.
 *
 * <p>Positive values raise the score of the class, negative ones lower it; {@link #strength} is what people are shown. Crops
 * need not reach all of an image: where none does, the value is 0 and {@link #covers} says no.
 */
public final class HeatMap {
    /** Share of places that are less than full strength. */
    private static final double FULL = 0.98;

    private final int width;
    private final int height;
    private final float[] values;
    private final BitSet covered;
    private final float full;

    /**
     * @param values row by row
     * @param covered the places that were looked at, by their index in the values
     */
    HeatMap(int width, int height, float[] values, BitSet covered) {
        if (width < 1 || height < 1 || values.length != (long) width * height) {
            throw new IllegalArgumentException("expected a map of " + width + "×" + height
                    + " with at least one position and a value for each, found " + values.length + " values");
        }
        this.width = width;
        this.height = height;
        this.values = values;
        this.covered = covered;
        this.full = full(values, covered);
    }

    /** What 98 of 100 covered places do not exceed, whether they speak for or against. */
    float magnitude() {
        float[] sizes = new float[values.length];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = Math.abs(values[i]);
        }
        return full(sizes, covered);
    }

    /** A few places far above the rest would leave nothing to see of it; where all but these are not positive, they count. */
    private static float full(float[] values, BitSet covered) {
        float[] sorted = new float[covered.cardinality()];
        int[] places = covered.stream().toArray();
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = values[places[i]];
        }
        Arrays.sort(sorted);
        if (sorted.length == 0) {
            return 0;
        }
        float high = sorted[(int) (FULL * (sorted.length - 1))];
        return Math.max(0, high > 0 ? high : sorted[sorted.length - 1]);
    }

    public int width() {
        return width;
    }

    public int height() {
        return height;
    }

    /** The value of a place: its part in the mean score over the crops, the sum of what every crop that sees it says. */
    public float value(int x, int y) {
        return values[y * width + x];
    }

    /**
     * The value as a part of that which 98 in 100 covered places do not exceed, from 0, also of negative values, to 1, also of
     * greater ones; 0 everywhere where nothing is positive.
     */
    public float strength(int x, int y) {
        return full > 0 ? Math.clamp(value(x, y) / full, 0f, 1f) : 0;
    }

    /** All strengths, row by row. */
    public float[] strengths() {
        float[] all = new float[values.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = strength(i % width, i / width);
        }
        return all;
    }

    /** Whether a crop reaches the place. */
    public boolean covers(int x, int y) {
        return covered.get(y * width + x);
    }

    /** What share of the image the crops reach, from 0 to 1. */
    public double coverage() {
        return (double) covered.cardinality() / values.length;
    }

    /**
     * The places with the highest values, by their index {@code y·width + x}; of equal values the earlier ones.
     *
     * @param share of the covered places, from 0 to 1
     */
    public BitSet top(double share) {
        BitSet top = new BitSet(values.length);
        IntStream.Builder places = IntStream.builder();
        covered.stream().forEach(places::add);
        places.build()
                .boxed()
                .sorted((a, b) -> Float.compare(values[b], values[a]))
                .limit(Math.round(share * covered.cardinality()))
                .forEach(top::set);
        return top;
    }

    /** The places that crops reach, by their index. */
    public BitSet covered() {
        return (BitSet) covered.clone();
    }

    @Override
    public String toString() {
        return "heat of " + width + "×" + height;
    }
}
