package org.gramian.basis;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Deterministic, evenly spaced subsample. In a list sorted by class, each class keeps its proportion. */
public final class EvenSample {
    private EvenSample() {}

    /** Returns at most {@code most} evenly spaced elements of a list, in order, including the first. */
    public static <T> List<T> of(List<T> all, int most) {
        return Arrays.stream(places(all.size(), most))
                .mapToObj(place -> all.get((int) place))
                .toList();
    }

    /** Returns {@code count = min(most, all)} ascending indices in {@code [0, all)}: {@code ⌊i·all/count⌋}. */
    public static long[] places(long all, int most) {
        long count = Math.min(most, all);
        return LongStream.range(0, count).map(i -> i * all / count).toArray();
    }
}
