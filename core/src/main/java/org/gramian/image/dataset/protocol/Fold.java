package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;

/**
 * Train, validation and test set of one fold. The lists hold indices into {@link
 * org.gramian.image.dataset.Dataset#samples}, ascending and disjoint.
 *
 * @param name unique name among the folds, e.g. {@code third 2}
 * @param train indices of the training set
 * @param validation indices of the validation set; empty in most protocols
 * @param test indices of the test set
 * @since 0.1
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

    /** Returns the fold of k-fold cross-validation whose test set is bin {@code tested}; all other bins train. */
    static Fold testing(int[] binOfSample, int tested, String name) {
        List<Integer> train = new ArrayList<>();
        List<Integer> test = new ArrayList<>();
        for (int i = 0; i < binOfSample.length; i++) {
            (binOfSample[i] == tested ? test : train).add(i);
        }
        return new Fold(name, train, List.of(), test);
    }

    static Fold of(Split split, String name) {
        return new Fold(name, in(split, SplitPart.TRAIN), in(split, SplitPart.VALIDATION), in(split, SplitPart.TEST));
    }

    private static List<Integer> in(Split split, SplitPart part) {
        return IntStream.range(0, split.parts().size())
                .filter(index -> split.parts().get(index) == part)
                .boxed()
                .toList();
    }

    /** Returns the fold with the validation set merged into the training set. */
    public Fold withValidationInTraining() {
        return new Fold(
                name,
                Stream.concat(train.stream(), validation.stream()).sorted().toList(),
                List.of(),
                test);
    }
}
