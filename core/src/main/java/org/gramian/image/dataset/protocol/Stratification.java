package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * Assigns samples to bins at random, so that every bin gets its quota of every class and duplicates share a bin.
 *
 * <p>A unit is a group of duplicates or a single image. Groups are assigned first, large ones before small ones, to a bin with
 * enough capacity left or the one that they exceed least; then single images fill the bins. Without duplicates every quota is met
 * exactly.
 */
final class Stratification {
    private final Dataset dataset;
    private final int[][] quotas;
    private final int[][] assigned;
    private final int[] unitsLeft;
    private final int[] binOfSample;

    private Stratification(Dataset dataset, int[][] quotas) {
        this.dataset = dataset;
        this.quotas = quotas;
        this.assigned = new int[quotas.length][quotas[0].length];
        this.unitsLeft = new int[quotas.length];
        this.binOfSample = new int[dataset.samples().size()];
    }

    /**
     * Returns the bin of every sample.
     *
     * @param quotas number of samples, {@code [class, bin]}; they sum to all
     */
    static int[] bins(Dataset dataset, Duplicates duplicates, int[][] quotas, RandomGenerator random) {
        Stratification state = new Stratification(dataset, quotas);
        List<List<Integer>> groups = new ArrayList<>();
        Map<String, List<Integer>> singles = new TreeMap<>();
        for (List<Integer> unit : units(dataset, duplicates)) {
            if (unit.size() > 1) {
                groups.add(unit);
                state.classCounts(unit).keySet().forEach(label -> state.unitsLeft[label]++);
            } else {
                Sample sample = dataset.samples().get(unit.getFirst());
                singles.computeIfAbsent(dataset.className(sample), _ -> new ArrayList<>())
                        .add(unit.getFirst());
                state.unitsLeft[sample.label()]++;
            }
        }
        Collections.shuffle(groups, random);
        groups.sort(Comparator.<List<Integer>>comparingInt(List::size).reversed());
        groups.forEach(group -> state.assignGroup(group, random));
        for (List<Integer> category : singles.values()) {
            Collections.shuffle(category, random);
            category.forEach(state::assignSingle);
        }
        return state.binOfSample;
    }

    /** Returns the groups of duplicates and the single samples, in the order of names. */
    static List<List<Integer>> units(Dataset dataset, Duplicates duplicates) {
        Map<Integer, List<Integer>> groupOf = new HashMap<>();
        duplicates.together().forEach(group -> group.forEach(index -> groupOf.put(index, group)));
        List<List<Integer>> units = new ArrayList<>();
        boolean[] seen = new boolean[dataset.samples().size()];
        for (int index : Fingerprint.byName(dataset)) {
            if (!seen[index]) {
                List<Integer> unit = groupOf.getOrDefault(index, List.of(index));
                unit.forEach(member -> seen[member] = true);
                units.add(unit);
            }
        }
        return units;
    }

    /** Returns the number of samples of each class; several classes where duplicates have different labels. */
    private Map<Integer, Integer> classCounts(List<Integer> unit) {
        Map<Integer, Integer> counts = new TreeMap<>();
        unit.forEach(index -> counts.merge(dataset.samples().get(index).label(), 1, Integer::sum));
        return counts;
    }

    /** Assigns a single image to the bin with most capacity for its class; plain loops, as there may be millions. */
    private void assignSingle(int index) {
        int label = dataset.samples().get(index).label();
        int empty = 0;
        for (int count : assigned[label]) {
            empty += count == 0 ? 1 : 0;
        }
        boolean onlyEmpty = unitsLeft[label] <= empty;
        int best = -1;
        for (int bin = 0; bin < assigned[label].length; bin++) {
            boolean allowed = !onlyEmpty || assigned[label][bin] == 0;
            if (allowed && (best < 0 || capacity(label, bin) > capacity(label, best))) {
                best = bin;
            }
        }
        binOfSample[index] = best;
        assigned[label][best]++;
        unitsLeft[label]--;
    }

    private void assignGroup(List<Integer> group, RandomGenerator random) {
        Map<Integer, Integer> counts = classCounts(group);
        int bin = choose(counts, random);
        group.forEach(index -> binOfSample[index] = bin);
        counts.forEach((label, count) -> {
            assigned[label][bin] += count;
            unitsLeft[label]--;
        });
    }

    /** Draws a bin among those that the group fits into, with a probability proportional to their capacity. */
    private int choose(Map<Integer, Integer> counts, RandomGenerator random) {
        int[] bins = candidates(counts);
        int[] fitting =
                IntStream.of(bins).filter(bin -> slack(counts, bin) >= 0).toArray();
        if (fitting.length == 0) {
            int best = bins[0];
            for (int bin : bins) {
                best = slack(counts, bin) > slack(counts, best) ? bin : best;
            }
            return best;
        }
        int left = random.nextInt(
                IntStream.of(fitting).map(bin -> capacity(counts, bin)).sum());
        for (int bin : fitting) {
            left -= capacity(counts, bin);
            if (left < 0) {
                return bin;
            }
        }
        throw new IllegalStateException("a random number exceeds its bound");
    }

    /** Returns all bins, or the empty bins of a class that has only as many units left as empty bins. */
    private int[] candidates(Map<Integer, Integer> counts) {
        int[] all = IntStream.range(0, quotas[0].length).toArray();
        for (int label : counts.keySet()) {
            int[] empty =
                    IntStream.of(all).filter(bin -> assigned[label][bin] == 0).toArray();
            if (unitsLeft[label] <= empty.length) {
                return empty;
            }
        }
        return all;
    }

    private int capacity(int label, int bin) {
        return quotas[label][bin] - assigned[label][bin];
    }

    private int capacity(Map<Integer, Integer> counts, int bin) {
        return counts.keySet().stream().mapToInt(label -> capacity(label, bin)).sum();
    }

    /** Returns the smallest capacity of any class after adding the group; negative if it does not fit. */
    private int slack(Map<Integer, Integer> counts, int bin) {
        return counts.entrySet().stream()
                .mapToInt(count -> capacity(count.getKey(), bin) - count.getValue())
                .min()
                .orElseThrow();
    }
}
