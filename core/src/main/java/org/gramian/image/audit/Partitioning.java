package org.gramian.image.audit;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Part;

/**
 * One way in which a dataset is divided: into train, validation and test, into folds, or into physical samples.
 *
 * @param name its name, as {@code split 3}
 * @param parts the part of every image in the order of the dataset, as {@code train}; empty where it takes no part
 * @param complete whether every part needs images of every class
 */
record Partitioning(String name, List<String> parts, boolean complete) {
    static List<Partitioning> of(Assignment assignment) {
        return switch (assignment) {
            case Assignment.None() -> List.of();
            case Assignment.Splits splits ->
                splits.splits().stream()
                        .map(split -> new Partitioning(
                                "split " + split.name(),
                                split.parts().stream().map(Partitioning::word).toList(),
                                true))
                        .toList();
            case Assignment.Folds folds ->
                List.of(new Partitioning(
                        "folds",
                        folds.numbers().stream().map(fold -> "fold " + fold).toList(),
                        false));
            case Assignment.Groups groups ->
                List.of(new Partitioning(
                        "physical samples",
                        groups.letters().stream()
                                .map(letter -> "sample " + letter)
                                .toList(),
                        false));
        };
    }

    private static String word(Part part) {
        return part == Part.UNUSED ? "" : part.word();
    }

    /** The names of its parts. */
    List<String> names() {
        List<String> found = parts.stream()
                .filter(part -> !part.isEmpty())
                .distinct()
                .sorted()
                .toList();
        if (!complete) {
            return found;
        }
        return Arrays.stream(Part.values())
                .map(Part::word)
                .filter(found::contains)
                .toList();
    }

    /** Whether images lie in more than one part. */
    boolean divides(Collection<Integer> images) {
        return images.stream()
                        .map(parts::get)
                        .filter(part -> !part.isEmpty())
                        .distinct()
                        .count()
                > 1;
    }
}
