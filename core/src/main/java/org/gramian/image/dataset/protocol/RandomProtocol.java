package org.gramian.image.dataset.protocol;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;

/** A protocol that draws stratified folds at random; the same seed gives the same folds. */
sealed interface RandomProtocol extends Protocol {
    /** Returns the number of parts that every class is split into; each part needs an image of it. */
    int parts();

    @Override
    default boolean isRandom() {
        return true;
    }

    @Override
    default Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        int[] units = new int[dataset.classes().size()];
        for (List<Integer> unit : Stratification.units(dataset, duplicates)) {
            TreeSet<Integer> labels = new TreeSet<>();
            unit.forEach(index -> labels.add(dataset.samples().get(index).label()));
            labels.forEach(label -> units[label]++);
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

    /**
     * {@code holdout:0.2}: one fold whose test set is a random fraction of every class, rounded, but at least one image.
     *
     * @param share the test fraction, above 0 and below 1
     */
    record Holdout(double share) implements RandomProtocol {
        static final double DEFAULT = 0.2;

        public Holdout {
            if (!(share > 0 && share < 1)) {
                throw new IllegalArgumentException(
                        "expected holdout:<fraction> with a fraction above 0 and below 1, found " + share);
            }
        }

        @Override
        public String text() {
            return "holdout:" + BigDecimal.valueOf(share).stripTrailingZeros().toPlainString();
        }

        @Override
        public int parts() {
            return 2;
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            int[][] quotas = dataset.counts().stream()
                    .map(count -> {
                        int test = (int) Math.max(Math.min(1, count), Math.min(count - 1, Math.round(count * share)));
                        return new int[] {count - test, test};
                    })
                    .toArray(int[][]::new);
            int[] bins = Stratification.bins(dataset, duplicates, quotas, new SplittableRandom(seed));
            return List.of(Fold.testing(bins, 1, "holdout"));
        }
    }

    /**
     * {@code kfold:5}: stratified k-fold cross-validation.
     *
     * @param parts 2 to 100
     */
    record KFold(int parts) implements RandomProtocol {
        static final int DEFAULT = 5;
        static final int MOST = 100;

        public KFold {
            Protocols.requireBetween("kfold", parts, 2, MOST);
        }

        @Override
        public String text() {
            return "kfold:" + parts;
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            return rotate(dataset, duplicates, seed, parts, parts, "fold");
        }
    }

    /**
     * {@code thirds:3}: every class in random thirds, two to train and one to test, each third once; the paper's protocol
     * for DTD and FMD.
     *
     * @param folds how many of the three folds are run, 1 to 3
     */
    record Thirds(int folds) implements RandomProtocol {
        static final int DEFAULT = 3;

        private static final int PARTS = 3;

        public Thirds {
            Protocols.requireBetween("thirds", folds, 1, PARTS);
        }

        @Override
        public String text() {
            return "thirds:" + folds;
        }

        @Override
        public int parts() {
            return PARTS;
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            return rotate(dataset, duplicates, seed, PARTS, folds, "third");
        }
    }

    /**
     * {@code half:14}: a random half of every class trains and the other tests, drawn anew for every fold; published for FMD with
     * 14 draws. The larger half of an odd number trains. The first draws do not depend on the number of draws.
     *
     * @param draws number of folds, 1 to 100
     */
    record Half(int draws) implements RandomProtocol {
        static final int DEFAULT = 14;

        public Half {
            Protocols.requireBetween("half", draws, 1, KFold.MOST);
        }

        @Override
        public String text() {
            return "half:" + draws;
        }

        @Override
        public int parts() {
            return 2;
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            int[][] quotas = dataset.counts().stream()
                    .map(count -> new int[] {Math.ceilDiv(count, 2), count / 2})
                    .toArray(int[][]::new);
            SplittableRandom random = new SplittableRandom(seed);
            List<Fold> folds = new ArrayList<>();
            for (int draw = 1; draw <= draws; draw++) {
                int[] bins = Stratification.bins(dataset, duplicates, quotas, random.split());
                folds.add(Fold.testing(bins, 1, "draw " + draw));
            }
            return folds;
        }
    }

    /** Returns folds that each test one of {@code bins} equal bins, named by their number from 1. */
    private static List<Fold> rotate(
            Dataset dataset, Duplicates duplicates, long seed, int bins, int folds, String name) {
        int[] binOfSample =
                Stratification.bins(dataset, duplicates, evenQuotas(dataset, bins), new SplittableRandom(seed));
        return IntStream.range(0, folds)
                .mapToObj(bin -> Fold.testing(binOfSample, bin, name + " " + (bin + 1)))
                .toList();
    }

    /** Returns the samples of each class and bin, {@code [class, bin]}; bins differ by at most one, in every class and in all. */
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
}
