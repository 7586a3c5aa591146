package org.gramian.image.dataset;

import java.util.List;

/**
 * Published splits of a dataset, used by protocols such as {@code given} or {@code kth-1v3}. All lists are in the order of
 * {@link Dataset#samples}.
 */
public sealed interface Assignment {
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
