package org.gramian.basis;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Samples at equal steps, so that each part of a list, as a class, keeps its share. */
public final class EvenSample {
    private EvenSample() {}

    /** Returns at most so many elements of a list, in order, including the first. */
    public static <T> List<T> of(List<T> all, int most) {
        return Arrays.stream(places(all.size(), most))
                .mapToObj(place -> all.get((int) place))
                .toList();
    }

    /** Returns at most so many indices of {@code 0, …, all − 1}, ascending: {@code ⌊i·all/count⌋}. */
    public static long[] places(long all, int most) {
        long count = Math.min(most, all);
        return LongStream.range(0, count).map(i -> i * all / count).toArray();
    }
}
