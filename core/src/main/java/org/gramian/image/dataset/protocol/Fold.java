package org.gramian.image.dataset.protocol;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One training run of a protocol: its train, validation and test set. The lists hold indexes into
 * {@link org.gramian.image.dataset.Dataset#samples}, ascending; no index is in two of them.
 *
 * @param name unique name among the folds, as {@code third 2}
 * @param train images to learn from
 * @param validation images to choose settings by; empty in most protocols
 * @param test images to measure with
 */
public record Fold(String name, List<Integer> train, List<Integer> validation, List<Integer> test) {
    public Fold {
        train = train.stream().sorted().toList();
        validation = validation.stream().sorted().toList();
        test = test.stream().sorted().toList();
        Set<Integer> seen = new HashSet<>();
        for (int index :
                Stream.of(train, validation, test).flatMap(List::stream).toList()) {
            if (index < 0 || !seen.add(index)) {
                throw new IllegalArgumentException("expected every sample at most once in the fold '" + name
                        + "', by an index of at least 0, found " + index + (index < 0 ? "" : " twice"));
            }
        }
    }

    /** The same fold with the validation images used to train, as is usual once all settings are chosen. */
    public Fold withValidationInTraining() {
        return new Fold(name, Stream.concat(train.stream(), validation.stream()).toList(), List.of(), test);
    }
}
