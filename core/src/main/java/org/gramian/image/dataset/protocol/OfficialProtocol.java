package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.gramian.basis.NamedArguments;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;

/**
 * A protocol that takes its folds from the dataset. Identical files on both sides of such a split are not moved, so that
 * results stay comparable with published ones; the notes of the folds name them.
 */
sealed interface OfficialProtocol extends Protocol {
    @Override
    default boolean isRandom() {
        return false;
    }

    private static Optional<String> wrongLayout(Dataset dataset, String layout) {
        String found = dataset.source().layoutName();
        return found.equals(layout)
                ? Optional.empty()
                : Optional.of("it belongs to the layout " + layout + ", found the layout " + found);
    }

    /**
     * {@code given}: all folds of the dataset: folders {@code train}, {@code val}, {@code test}, published lists, or the fold
     * column of a CSV file, where fold {@code i} tests the images of number {@code i} and trains on all others.
     */
    record Given() implements OfficialProtocol {
        @Override
        public String text() {
            return "given";
        }

        @Override
        public Optional<String> incompatibility(Dataset dataset, Duplicates duplicates) {
            return switch (dataset.assignment()) {
                case Assignment.Splits(List<Split> splits) ->
                    splits.stream()
                            .filter(split -> !split.parts().containsAll(List.of(SplitPart.TRAIN, SplitPart.TEST)))
                            .map(split -> "its split '" + split.name() + "' has no "
                                    + (split.parts().contains(SplitPart.TRAIN) ? "test images" : "training images"))
                            .findFirst();
                case Assignment.Folds(List<Integer> numbers) ->
                    numbers.stream().distinct().count() > 1
                            ? Optional.empty()
                            : Optional.of("all its images have the same fold number");
                case Assignment.Groups _ -> Optional.of("it has physical samples but no train and test sets");
                case Assignment.None() ->
                    Optional.of("it comes with no folds (no train and test folders, no lists, no fold column)");
            };
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            return switch (dataset.assignment()) {
                case Assignment.Splits(List<Split> splits) ->
                    splits.stream()
                            .map(split -> Fold.of(split, splits.size() == 1 ? split.name() : "split " + split.name()))
                            .toList();
                case Assignment.Folds(List<Integer> numbers) -> {
                    int[] bins = numbers.stream().mapToInt(number -> number).toArray();
                    yield numbers.stream()
                            .distinct()
                            .sorted()
                            .map(number -> Fold.testing(bins, number, "fold " + number))
                            .toList();
                }
                case Assignment.Groups _, Assignment.None _ -> List.of();
            };
        }
    }

    /**
     * The splits of a published dataset.
     *
     * <ul>
     *   <li>{@code dtd-official:1..10}: 40 images of every class each to train, to validate and to test; or some of the splits, as
     *       {@code dtd-official:1} or {@code dtd-official:1..3}.
     *   <li>{@code cub-official}: train and test set of CUB-200-2011.
     *   <li>{@code aircraft-official}: train, validation and test set of FGVC-Aircraft; {@code aircraft-official:trainval} trains on
     *       the first two together.
     * </ul>
     *
     * @param wanted names of the splits; empty for datasets with a single one
     */
    record Published(String text, String layout, List<String> wanted, boolean trainval) implements OfficialProtocol {
        static final String DTD = "dtd";
        static final int DTD_SPLITS = 10;

        static final Published CUB = new Published("cub-official", "cub-200-2011", List.of(), false);
        static final Published AIRCRAFT = new Published("aircraft-official", "fgvc-aircraft", List.of(), false);
        static final Published AIRCRAFT_TRAINVAL =
                new Published("aircraft-official:trainval", "fgvc-aircraft", List.of(), true);

        static Published dtd(int first, int last) {
            RandomProtocol.requireBetween("the first split", first, 1, DTD_SPLITS);
            RandomProtocol.requireBetween("the last split", last, first, DTD_SPLITS);
            List<String> wanted = IntStream.rangeClosed(first, last)
                    .mapToObj(Integer::toString)
                    .toList();
            return new Published("dtd-official:" + first + (first == last ? "" : ".." + last), DTD, wanted, false);
        }

        static Published dtd(NamedArguments arguments) {
            String[] ends = arguments.text("splits", "1.." + DTD_SPLITS).split("\\.\\.", 2);
            for (String end : ends) {
                if (!end.matches("\\d{1,6}")) {
                    throw arguments.wrong("splits", "a number or a range such as 1..3", end);
                }
            }
            return dtd(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }

        static Published aircraft(NamedArguments arguments) {
            String variant = arguments.text("variant", "");
            if (!variant.isEmpty() && !variant.equals("trainval")) {
                throw arguments.wrong("variant", "trainval", variant);
            }
            return variant.isEmpty() ? AIRCRAFT : AIRCRAFT_TRAINVAL;
        }

        @Override
        public Optional<String> incompatibility(Dataset dataset, Duplicates duplicates) {
            List<String> names = splits(dataset).stream().map(Split::name).toList();
            return wrongLayout(dataset, layout)
                    .or(() -> wanted.stream()
                            .filter(split -> !names.contains(split))
                            .map(split -> "it needs the lists of split " + split + ", found the lists of "
                                    + String.join(", ", names))
                            .findFirst());
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            return splits(dataset).stream()
                    .filter(split -> wanted.isEmpty() || wanted.contains(split.name()))
                    .map(split -> Fold.of(split, wanted.isEmpty() ? "official" : "split " + split.name()))
                    .map(fold -> trainval ? fold.withValidationInTraining() : fold)
                    .toList();
        }

        private static List<Split> splits(Dataset dataset) {
            return dataset.assignment() instanceof Assignment.Splits(List<Split> splits) ? splits : List.of();
        }
    }

    /**
     * {@code kth-1v3} and {@code kth-3v1}: KTH-TIPS-2b by its four physical samples. The first, the paper's, trains on one sample
     * of every class and tests on the other three; the second the other way round. Four folds each.
     */
    record KthSamples(boolean oneTrains) implements OfficialProtocol {
        private static final int SAMPLES = 4;

        @Override
        public String text() {
            return oneTrains ? "kth-1v3" : "kth-3v1";
        }

        @Override
        public Optional<String> incompatibility(Dataset dataset, Duplicates duplicates) {
            if (!(dataset.assignment() instanceof Assignment.Groups(List<String> letters))) {
                return wrongLayout(dataset, "kth-tips-2b").or(() -> Optional.of("it has no physical samples"));
            }
            SortedSet<String> all = new TreeSet<>(letters);
            if (all.size() != SAMPLES) {
                return Optional.of("it needs " + SAMPLES + " samples of every class, found " + all);
            }
            TreeMap<String, SortedSet<String>> ofClass = new TreeMap<>();
            for (int i = 0; i < letters.size(); i++) {
                String category = dataset.className(dataset.samples().get(i));
                ofClass.computeIfAbsent(category, _ -> new TreeSet<>()).add(letters.get(i));
            }
            return ofClass.entrySet().stream()
                    .filter(found -> found.getValue().size() < SAMPLES)
                    .map(found -> "it needs the samples " + all + " of every class, found only " + found.getValue()
                            + " of '" + found.getKey() + "'")
                    .findFirst();
        }

        @Override
        public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
            if (!(dataset.assignment() instanceof Assignment.Groups(List<String> letters))) {
                return List.of();
            }
            List<String> names = letters.stream().distinct().sorted().toList();
            int[] sampleOf = letters.stream().mapToInt(names::indexOf).toArray();
            return IntStream.range(0, names.size())
                    .mapToObj(sample -> Fold.testing(sampleOf, sample, "sample " + names.get(sample)))
                    .map(fold -> oneTrains
                            ? new Fold(fold.name(), /* train= */ fold.test(), List.of(), /* test= */ fold.train())
                            : fold)
                    .toList();
        }
    }
}
