package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.basis.NamedArguments;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * A protocol that draws stratified folds at random; the same seed gives the same folds.
 *
 * <ul>
 *   <li>{@code holdout:0.2}: one fold whose test set is a random fraction of every class, rounded, but at least one image.
 *   <li>{@code kfold:5}: stratified k-fold cross-validation, 2 to 100 folds.
 *   <li>{@code thirds:3}: every class in random thirds, two to train and one to test, each third once, 1 to 3 folds; the paper's
 *       protocol for DTD and FMD.
 *   <li>{@code half:14}: a random half of every class trains and the other tests, drawn anew for each of 1 to 100 folds; published
 *       for FMD with 14 draws. The larger half of an odd number trains. The first draws do not depend on the number of draws.
 * </ul>
 */
record RandomProtocol(Kind kind, double argument) implements Protocol {
    enum Kind {
        HOLDOUT(0.2, 0, 1),
        KFOLD(5, 2, 100),
        THIRDS(3, 1, 3),
        HALF(14, 1, 100);

        private final double usual;
        private final int least;
        private final int most;

        Kind(double usual, int least, int most) {
            this.usual = usual;
            this.least = least;
            this.most = most;
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Returns the protocol as help texts write it, as {@code kfold[:5]}. */
        String form() {
            return word() + "[:" + NamedArguments.decimal(usual) + "]";
        }
    }

    RandomProtocol {
        if (kind != Kind.HOLDOUT) {
            requireBetween("the number of folds", (int) argument, kind.least, kind.most);
        } else if (!(argument > 0 && argument < 1)) {
            throw new IllegalArgumentException(
                    "expected holdout:<fraction> with a fraction above 0 and below 1, found " + argument);
        }
    }

    RandomProtocol(Kind kind) {
        this(kind, kind.usual);
    }

    static void requireBetween(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("expected " + name + " from " + min + " to " + max + ", found " + value);
        }
    }

    static RandomProtocol of(NamedArguments arguments) {
        Kind kind = Kind.valueOf(arguments.name().toUpperCase(Locale.ROOT));
        return new RandomProtocol(
                kind,
                kind == Kind.HOLDOUT
                        ? arguments.number("fraction", kind.usual)
                        : arguments.integer("folds", (int) kind.usual));
    }

    @Override
    public String text() {
        return kind.word() + ":" + NamedArguments.decimal(argument);
    }

    @Override
    public boolean isRandom() {
        return true;
    }

    /** Returns the number of parts that every class is split into; each part needs an image of it. */
    private int parts() {
        return switch (kind) {
            case HOLDOUT, HALF -> 2;
            case KFOLD -> (int) argument;
            case THIRDS -> 3;
        };
    }

    @Override
    public Optional<String> incompatibility(Dataset dataset, Duplicates duplicates) {
        int[] units = new int[dataset.classes().size()];
        for (List<Integer> unit : Stratification.units(dataset, duplicates)) {
            unit.stream()
                    .map(index -> dataset.samples().get(index).label())
                    .distinct()
                    .forEach(label -> units[label]++);
        }
        return IntStream.range(0, units.length)
                .filter(label -> units[label] < parts())
                .mapToObj(label -> "it divides every class into " + parts() + " parts, and class '"
                        + dataset.classes().get(label) + "' has "
                        + counted(units[label], dataset.counts().get(label)))
                .findFirst();
    }

    private static String counted(int units, int images) {
        String all = images + (images == 1 ? " image" : " images");
        return units == images ? all : all + ", with " + units + " distinct";
    }

    @Override
    public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[][] quotas = quotas(dataset);
        if (kind == Kind.HALF) {
            return IntStream.rangeClosed(1, (int) argument)
                    .mapToObj(draw -> Fold.testing(
                            Stratification.bins(dataset, duplicates, quotas, random.split()), 1, "draw " + draw))
                    .toList();
        }
        int[] bins = Stratification.bins(dataset, duplicates, quotas, random);
        if (kind == Kind.HOLDOUT) {
            return List.of(Fold.testing(bins, 1, "holdout"));
        }
        String name = kind == Kind.KFOLD ? "fold " : "third ";
        return IntStream.range(0, (int) argument)
                .mapToObj(bin -> Fold.testing(bins, bin, name + (bin + 1)))
                .toList();
    }

    /** Returns the number of samples of each class and bin, {@code [class, bin]}; where there are two, the second tests. */
    private int[][] quotas(Dataset dataset) {
        return switch (kind) {
            case HOLDOUT ->
                quotas(dataset, count ->
                        (int) Math.max(Math.min(1, count), Math.min(count - 1, Math.round(count * argument))));
            case HALF -> quotas(dataset, count -> count / 2);
            case KFOLD, THIRDS -> evenQuotas(dataset, parts());
        };
    }

    private static int[][] quotas(Dataset dataset, IntUnaryOperator tests) {
        return dataset.counts().stream()
                .map(count -> new int[] {count - tests.applyAsInt(count), tests.applyAsInt(count)})
                .toArray(int[][]::new);
    }

    /** Bins differ by at most one, in every class and in all. */
    private static int[][] evenQuotas(Dataset dataset, int bins) {
        int[][] quotas = new int[dataset.classes().size()][bins];
        int[] totals = new int[bins];
        List<Integer> counts = dataset.counts();
        // By class name, so that the result does not depend on the order of the classes.
        List<Integer> byName = IntStream.range(0, quotas.length)
                .boxed()
                .sorted(Comparator.comparing(label -> dataset.classes().get(label)))
                .toList();
        for (int label : byName) {
            int count = counts.get(label);
            List<Integer> smallestFirst = IntStream.range(0, bins)
                    .boxed()
                    .sorted(Comparator.comparingInt(bin -> totals[bin]))
                    .toList();
            for (int place = 0; place < bins; place++) {
                int bin = smallestFirst.get(place);
                quotas[label][bin] = count / bins + (place < count % bins ? 1 : 0);
                totals[bin] += quotas[label][bin];
            }
        }
        return quotas;
    }

    /**
     * Assigns samples to bins at random, so that every bin gets its quota of every class and duplicates share a bin.
     *
     * <p>A unit is a group of duplicates or a single image. Groups are assigned first, large ones before small ones, to a bin with
     * enough capacity left or the one that they exceed least; then single images fill the bins. Without duplicates every quota is met
     * exactly.
     */
    private static final class Stratification {
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
                int[] empty = IntStream.of(all)
                        .filter(bin -> assigned[label][bin] == 0)
                        .toArray();
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
            return counts.keySet().stream()
                    .mapToInt(label -> capacity(label, bin))
                    .sum();
        }

        /** Returns the smallest capacity of any class after adding the group; negative if it does not fit. */
        private int slack(Map<Integer, Integer> counts, int bin) {
            return counts.entrySet().stream()
                    .mapToInt(count -> capacity(count.getKey(), bin) - count.getValue())
                    .min()
                    .orElseThrow();
        }
    }
}
