package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/**
 * A protocol that takes its folds from the dataset. Identical files on both sides of such a split are not moved, so that
 * results stay comparable with published ones; the plan's notes name them.
 */
sealed interface OfficialProtocol extends Protocol {
    @Override
    default boolean isRandom() {
        return false;
    }

    /** Returns the folds; no seed is needed. */
    List<Fold> folds(Dataset dataset);

    @Override
    default List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        return folds(dataset);
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
        public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
            return switch (dataset.assignment()) {
                case Assignment.Splits(List<Split> splits) ->
                    splits.stream()
                            .filter(split -> !split.parts().containsAll(List.of(Part.TRAIN, Part.TEST)))
                            .map(split -> "its split '" + split.name() + "' has no "
                                    + (split.parts().contains(Part.TRAIN) ? "test images" : "training images"))
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
        public List<Fold> folds(Dataset dataset) {
            return switch (dataset.assignment()) {
                case Assignment.Splits(List<Split> splits) ->
                    splits.stream()
                            .map(split -> fold(split, splits.size() == 1 ? split.name() : "split " + split.name()))
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
     * {@code dtd-official:1..10}: the published splits of DTD, 40 images of every class each to train, to validate and to test;
     * or some of them, as {@code dtd-official:1} or {@code dtd-official:1..3}.
     *
     * @param first the first split, from 1
     * @param last the last split
     */
    record DtdOfficial(int first, int last) implements OfficialProtocol {
        static final String LAYOUT = "dtd";

        /** Number of published splits. */
        static final int PUBLISHED = 10;

        public DtdOfficial {
            Protocols.requireBetween("dtd-official", first, 1, PUBLISHED);
            Protocols.requireBetween("dtd-official:" + first + ".." + last, last, first, PUBLISHED);
        }

        @Override
        public String text() {
            return "dtd-official:" + first + (first == last ? "" : ".." + last);
        }

        @Override
        public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
            List<String> names = splits(dataset).stream().map(Split::name).toList();
            return wrongLayout(dataset, LAYOUT)
                    .or(() -> IntStream.rangeClosed(first, last)
                            .filter(number -> !names.contains(Integer.toString(number)))
                            .mapToObj(number -> "it needs the lists of split " + number + ", found the lists of "
                                    + String.join(", ", names))
                            .findFirst());
        }

        @Override
        public List<Fold> folds(Dataset dataset) {
            return splits(dataset).stream()
                    .filter(split -> {
                        int number = Integer.parseInt(split.name());
                        return number >= first && number <= last;
                    })
                    .map(split -> fold(split, "split " + split.name()))
                    .toList();
        }
    }

    /**
     * {@code kth-1v3} and {@code kth-3v1}: KTH-TIPS-2b by its four physical samples. The first, the paper's, trains on one sample
     * of every class and tests on the other three; the second the other way round. Four folds each.
     *
     * @param oneTrains whether one sample trains, rather than tests
     */
    record KthSamples(boolean oneTrains) implements OfficialProtocol {
        private static final int SAMPLES = 4;

        @Override
        public String text() {
            return oneTrains ? "kth-1v3" : "kth-3v1";
        }

        @Override
        public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
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
        public List<Fold> folds(Dataset dataset) {
            if (!(dataset.assignment() instanceof Assignment.Groups(List<String> letters))) {
                return List.of();
            }
            List<String> names = letters.stream().distinct().sorted().toList();
            int[] sampleOf = letters.stream().mapToInt(names::indexOf).toArray();
            return IntStream.range(0, names.size())
                    .mapToObj(sample -> Fold.testing(sampleOf, sample, "sample " + names.get(sample)))
                    .map(fold -> oneTrains ? swapped(fold) : fold)
                    .toList();
        }

        private static Fold swapped(Fold fold) {
            return new Fold(fold.name(), /* train= */ fold.test(), List.of(), /* test= */ fold.train());
        }
    }

    /** {@code cub-official}: the published split of CUB-200-2011 into train and test. */
    record CubOfficial() implements OfficialProtocol {
        static final String LAYOUT = "cub-200-2011";

        @Override
        public String text() {
            return "cub-official";
        }

        @Override
        public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
            return wrongLayout(dataset, LAYOUT);
        }

        @Override
        public List<Fold> folds(Dataset dataset) {
            return splits(dataset).stream()
                    .map(split -> fold(split, "official"))
                    .toList();
        }
    }

    /**
     * {@code aircraft-official}: the published split of FGVC-Aircraft into train, validation and test;
     * {@code aircraft-official:trainval} trains on the first two together.
     *
     * @param withValidation whether the validation images train too
     */
    record AircraftOfficial(boolean withValidation) implements OfficialProtocol {
        static final String LAYOUT = "fgvc-aircraft";
        static final String TRAINVAL = "trainval";

        @Override
        public String text() {
            return "aircraft-official" + (withValidation ? ":" + TRAINVAL : "");
        }

        @Override
        public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
            return wrongLayout(dataset, LAYOUT);
        }

        @Override
        public List<Fold> folds(Dataset dataset) {
            return splits(dataset).stream()
                    .map(split -> fold(split, "official"))
                    .map(fold -> withValidation ? fold.withValidationInTraining() : fold)
                    .toList();
        }
    }

    private static List<Split> splits(Dataset dataset) {
        return dataset.assignment() instanceof Assignment.Splits(List<Split> splits) ? splits : List.of();
    }

    private static Optional<String> wrongLayout(Dataset dataset, String layout) {
        String found = dataset.source().layoutName();
        return found.equals(layout)
                ? Optional.empty()
                : Optional.of("it belongs to the layout " + layout + ", found the layout " + found);
    }

    private static Fold fold(Split split, String name) {
        return new Fold(name, in(split, Part.TRAIN), in(split, Part.VALIDATION), in(split, Part.TEST));
    }

    private static List<Integer> in(Split split, Part part) {
        return IntStream.range(0, split.parts().size())
                .filter(index -> split.parts().get(index) == part)
                .boxed()
                .toList();
    }
}
