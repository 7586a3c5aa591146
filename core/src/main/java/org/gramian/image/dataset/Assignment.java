package org.gramian.image.dataset;

import java.util.List;

/**
 * Published splits of a dataset; protocols such as {@code given} or {@code kth-1v3} go by
 * it. All lists are in the order of {@link Dataset#samples}.
 */
public sealed interface Assignment {
    /** No published splits: a seeded protocol has to split the dataset. */
    record None() implements Assignment {}

    /**
     * Whole divisions into train, validation and test.
     *
     * @param splits at least one
     */
    record Splits(List<Split> splits) implements Assignment {
        public Splits {
            splits = List.copyOf(splits);
        }
    }

    /**
     * Every image has the number of the fold that tests it.
     *
     * @param numbers the fold of every sample, at least 0
     */
    record Folds(List<Integer> numbers) implements Assignment {
        public Folds {
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * Every image shows one of several physical samples of its class, as in KTH-TIPS-2b.
     *
     * @param letters the physical sample of every image, as {@code a}
     */
    record Groups(List<String> letters) implements Assignment {
        public Groups {
            letters = List.copyOf(letters);
        }
    }
}
