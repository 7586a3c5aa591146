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
}
