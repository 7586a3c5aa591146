package org.gramian.basis;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** A choice of many things at equal steps, so that each stretch of them, as a class, keeps its share. */
public final class EvenSample {
    private EvenSample() {}

    /** At most so many of a list, in its order; the first is among them. */
    public static <T> List<T> of(List<T> all, int most) {
        return Arrays.stream(places(all.size(), most))
                .mapToObj(place -> all.get((int) place))
                .toList();
    }

    /** At most so many of the places {@code 0, …, all − 1}, ascending: {@code ⌊i·all/count⌋}. */
    public static long[] places(long all, int most) {
        long count = Math.min(most, all);
        return LongStream.range(0, count).map(i -> i * all / count).toArray();
    }
}
