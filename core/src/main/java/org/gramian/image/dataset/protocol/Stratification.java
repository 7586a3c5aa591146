package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * Deals samples into bins at random, so that every bin gets its quota of every class and duplicates of an image stay
 * together.
 *
 * <p>Duplicates are dealt first, large groups before small ones, into a bin that has room for them, or the one that they
 * overfill least; then single images fill the room that is left. Without duplicates every quota is met exactly.
 */
final class Stratification {
    private final Dataset dataset;
    private final int[][] quotas;
    private final int[][] placed;
    private final int[] unitsLeft;
    private final int[] binOfSample;

    private Stratification(Dataset dataset, int[][] quotas) {
        this.dataset = dataset;
        this.quotas = quotas;
        this.placed = new int[quotas.length][quotas[0].length];
        this.unitsLeft = new int[quotas.length];
        this.binOfSample = new int[dataset.samples().size()];
    }

    /**
     * The bin of every sample.
     *
     * @param quotas how many samples of a class (first index) a bin (second index) should get; they sum to all
     */
    static int[] deal(Dataset dataset, Duplicates duplicates, int[][] quotas, RandomGenerator random) {
        Stratification dealing = new Stratification(dataset, quotas);
        List<List<Integer>> copies = new ArrayList<>();
        Map<String, List<Integer>> singles = new TreeMap<>();
        for (List<Integer> unit : units(dataset, duplicates)) {
            if (unit.size() > 1) {
                copies.add(unit);
                dealing.needs(unit).keySet().forEach(label -> dealing.unitsLeft[label]++);
            } else {
                Sample sample = dataset.samples().get(unit.getFirst());
                singles.computeIfAbsent(dataset.className(sample), _ -> new ArrayList<>())
                        .add(unit.getFirst());
                dealing.unitsLeft[sample.label()]++;
            }
        }
        Collections.shuffle(copies, random);
        copies.sort(Comparator.<List<Integer>>comparingInt(List::size).reversed());
        copies.forEach(unit -> dealing.place(unit, dealing.choose(dealing.needs(unit), random)));
        for (List<Integer> category : singles.values()) {
            Collections.shuffle(category, random);
            category.forEach(dealing::placeSingle);
        }
        return dealing.binOfSample;
    }

    /** Groups of duplicates, and single samples, in the order of names: what must stay together. */
    static List<List<Integer>> units(Dataset dataset, Duplicates duplicates) {
        Map<Integer, List<Integer>> groupOf = new HashMap<>();
        duplicates.together().forEach(group -> group.forEach(index -> groupOf.put(index, group)));
        List<List<Integer>> units = new ArrayList<>();
        boolean[] taken = new boolean[dataset.samples().size()];
        for (int index : Fingerprint.byName(dataset)) {
            if (!taken[index]) {
                List<Integer> unit = groupOf.getOrDefault(index, List.of(index));
                unit.forEach(member -> taken[member] = true);
                units.add(unit);
            }
        }
        return units;
    }

    /** How many samples of each class a unit holds; several classes where copies have different labels. */
    private Map<Integer, Integer> needs(List<Integer> unit) {
        Map<Integer, Integer> needs = new TreeMap<>();
        unit.forEach(index -> needs.merge(dataset.samples().get(index).label(), 1, Integer::sum));
        return needs;
    }

    /** A single image goes where there is most room for its class; plain loops, as there may be millions. */
    private void placeSingle(int index) {
        int label = dataset.samples().get(index).label();
        boolean onlyEmpty = unitsLeft[label] <= empty(label);
        int best = -1;
        for (int bin = 0; bin < placed[label].length; bin++) {
            boolean wanted = !onlyEmpty || placed[label][bin] == 0;
            if (wanted && (best < 0 || room(label, bin) > room(label, best))) {
                best = bin;
            }
        }
        binOfSample[index] = best;
        placed[label][best]++;
        unitsLeft[label]--;
    }

    private int empty(int label) {
        int empty = 0;
        for (int count : placed[label]) {
            empty += count == 0 ? 1 : 0;
        }
        return empty;
    }

    private int room(int label, int bin) {
        return quotas[label][bin] - placed[label][bin];
    }

    private void place(List<Integer> unit, int bin) {
        unit.forEach(index -> binOfSample[index] = bin);
        needs(unit).forEach((label, count) -> {
            placed[label][bin] += count;
            unitsLeft[label]--;
        });
    }

    /** A bin for copies: by chance among those with room, in proportion to it, so that copies lie anywhere. */
    private int choose(Map<Integer, Integer> needs, RandomGenerator random) {
        int[] bins = candidates(needs);
        int[] fitting = IntStream.of(bins).filter(bin -> slack(needs, bin) >= 0).toArray();
        if (fitting.length == 0) {
            return most(bins, bin -> slack(needs, bin));
        }
        int left = random.nextInt(
                IntStream.of(fitting).map(bin -> room(needs, bin)).sum());
        for (int bin : fitting) {
            left -= room(needs, bin);
            if (left < 0) {
                return bin;
            }
        }
        throw new IllegalStateException("a random number exceeds its bound");
    }

    /** All bins; or those without any sample of a class that has only as many units left as there are such bins. */
    private int[] candidates(Map<Integer, Integer> needs) {
        int[] all = IntStream.range(0, quotas[0].length).toArray();
        for (int label : needs.keySet()) {
            int[] empty =
                    IntStream.of(all).filter(bin -> placed[label][bin] == 0).toArray();
            if (unitsLeft[label] <= empty.length) { // each of them needs one
                return empty;
            }
        }
        return all;
    }

    private int room(Map<Integer, Integer> needs, int bin) {
        return needs.keySet().stream().mapToInt(label -> room(label, bin)).sum();
    }

    /** The room that would be left of the class that has least; negative where the unit does not fit. */
    private int slack(Map<Integer, Integer> needs, int bin) {
        return needs.entrySet().stream()
                .mapToInt(need -> room(need.getKey(), bin) - need.getValue())
                .min()
                .orElseThrow();
    }

    /** The first bin of the largest value. */
    private static int most(int[] bins, ToIntFunction<Integer> value) {
        int best = bins[0];
        for (int bin : bins) {
            if (value.applyAsInt(bin) > value.applyAsInt(best)) {
                best = bin;
            }
        }
        return best;
    }
}
