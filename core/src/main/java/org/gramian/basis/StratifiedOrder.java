package org.gramian.basis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Random order whose every prefix is a stratified sample: a larger sample holds the smaller ones. */
public final class StratifiedOrder {
    private StratifiedOrder() {}

    /**
     * Returns the indices of elements in a random order: first {@code least} of each stratum, then the rest in proportion to the
     * sizes of the strata.
     *
     * @param strata stratum of each element
     * @param least of each stratum before all others
     */
    public static List<Integer> of(List<?> strata, int least, long seed) {
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
