package org.gramian.image.dataset;

import java.util.List;

/**
 * Published splits of a dataset, used by protocols such as {@code given} or {@code kth-1v3}. All lists are in the order of
 * {@link Dataset#samples}.
 *
 * @since 0.1
 */
public sealed interface Assignment {
    /** Returns the assignment of some samples. */
    default Assignment some(List<Integer> indexes) {
        return switch (this) {
            case None none -> none;
            case Splits(List<Split> splits) ->
                new Splits(splits.stream()
                        .map(split -> new Split(
                                split.name,
                                indexes.stream().map(split.parts::get).toList()))
                        .toList());
            case Folds(List<Integer> numbers) ->
                new Folds(indexes.stream().map(numbers::get).toList());
            case Groups(List<String> letters) ->
                new Groups(indexes.stream().map(letters::get).toList());
        };
    }

    /** Returns the part of a sample in the only or first split, its fold or its physical sample; empty without splits. */
    default String part(int index) {
        return switch (this) {
            case None _ -> "";
            case Splits(List<Split> splits) ->
                splits.getFirst().parts.get(index).name();
            case Folds(List<Integer> numbers) -> numbers.get(index).toString();
            case Groups(List<String> letters) -> letters.get(index);
        };
    }

    /** No published splits: a random protocol has to split the dataset. */
    record None() implements Assignment {}

    /**
     * Splits into train, validation and test set.
     *
     * @param splits at least one
     */
    record Splits(List<Split> splits) implements Assignment {
        public Splits {
            splits = List.copyOf(splits);
        }
    }

    /**
     * Fold numbers: an image is in the test set of its fold.
     *
     * @param numbers the fold of every sample, at least 0
     */
    record Folds(List<Integer> numbers) implements Assignment {
        public Folds {
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * Physical samples of the classes, as in KTH-TIPS-2b.
     *
     * @param letters the physical sample of every image, as {@code a}
     */
    record Groups(List<String> letters) implements Assignment {
        public Groups {
            letters = List.copyOf(letters);
        }
    }

    /**
     * One published split.
     *
     * @param name its name in the dataset, as {@code 3} for DTD's third, or {@code given} where there is one only
     * @param parts the part of every sample
     */
    record Split(String name, List<SplitPart> parts) {
        public Split {
            parts = List.copyOf(parts);
        }
    }

    /** The part of a split that an image belongs to. */
    enum SplitPart {
        TRAIN("train"),
        VALIDATION("val"),
        TEST("test"),
        /** In none of the parts. */
        UNUSED("unused");

        private final String word;

        SplitPart(String word) {
            this.word = word;
        }

        /** Returns the name in folders and lists, as {@code val}. */
        public String word() {
            return word;
        }
    }
}
