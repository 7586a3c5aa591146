package org.gramian.basis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Deterministic subsamples. */
public final class Subsample {
    private Subsample() {}

    /** Returns at most {@code most} evenly spaced elements, in order; in a list sorted by class, each class keeps its proportion. */
    public static <T> List<T> even(List<T> all, int most) {
        return Arrays.stream(evenIndices(all.size(), most))
                .mapToObj(index -> all.get((int) index))
                .toList();
    }

    /** Returns {@code count = min(most, all)} ascending indices in {@code [0, all)}: {@code ⌊i·all/count⌋}. */
    public static long[] evenIndices(long all, int most) {
        long count = Math.min(most, all);
        return LongStream.range(0, count).map(i -> i * all / count).toArray();
    }

    /** Returns the indices of elements in a random order whose every prefix is a stratified sample: first {@code least} of each stratum, then the rest in proportion to the sizes of the strata. A larger sample holds the smaller ones. */
    public static List<Integer> stratified(List<?> strata, int least, long seed) {
        Map<Object, List<Integer>> members = new LinkedHashMap<>();
        for (int i = 0; i < strata.size(); i++) {
            members.computeIfAbsent(strata.get(i), _ -> new ArrayList<>()).add(i);
        }
        SplittableRandom random = new SplittableRandom(seed);
        record Ranked(int index, double rank) {}
        List<Ranked> ranked = new ArrayList<>();
        for (List<Integer> stratum : members.values()) {
            Collections.shuffle(stratum, random);
            for (int i = 0; i < stratum.size(); i++) {
                ranked.add(new Ranked(stratum.get(i), i < least ? i - least : (i + 0.5) / stratum.size()));
            }
        }
        ranked.sort(Comparator.comparingDouble(Ranked::rank));
        return ranked.stream().map(Ranked::index).toList();
    }
}
