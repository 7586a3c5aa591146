package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Note.Kind;

/**
 * The folds of a protocol on a dataset.
 *
 * @param seed the random seed
 * @param folds at least one; every class has training images in each
 * @param fingerprint of names, labels and folds, stored in every result
 * @param notes duplicates across given splits, classes without test images, files that could not be compared
 * @since 0.1
 */
public record FoldSet(Protocol protocol, long seed, List<Fold> folds, Fingerprint fingerprint, List<Note> notes) {
    public FoldSet {
        folds = List.copyOf(folds);
        notes = List.copyOf(notes);
    }

    static FoldSet of(Protocol protocol, Dataset dataset, Duplicates duplicates, long seed) {
        List<Fold> folds = protocol.folds(dataset, duplicates, seed);
        Note.Collector notes = new Note.Collector();
        duplicates
                .uncompared()
                .forEach(index -> notes.add(
                        Kind.UNCOMPARED_FILES, dataset.samples().get(index).name()));
        for (List<Integer> group : duplicates.groups()) {
            noteCopies(dataset, group, folds, notes);
        }
        for (Fold fold : folds) {
            check(protocol, dataset, fold, notes);
        }
        return new FoldSet(protocol, seed, folds, Fingerprint.of(dataset, folds), notes.notes());
    }

    private static void noteCopies(Dataset dataset, List<Integer> group, List<Fold> folds, Note.Collector notes) {
        String names = group.stream()
                .limit(Note.SHOWN)
                .map(index -> dataset.samples().get(index).name())
                .collect(Collectors.joining(" = ", "", group.size() > Note.SHOWN ? " = ..." : ""));
        if (labels(dataset, group).size() > 1) {
            notes.add(Kind.COPIES_ACROSS_CLASSES, names);
        }
        boolean straddles = folds.stream()
                .anyMatch(fold -> List.of(fold.train(), fold.validation(), fold.test()).stream()
                                .filter(part -> contains(part, group))
                                .count()
                        > 1);
        if (straddles) {
            notes.add(Kind.STRADDLING_COPIES, names);
        }
    }

    /** Returns whether a part, which is sorted, contains a sample of a group. */
    private static boolean contains(List<Integer> part, List<Integer> group) {
        return group.stream().anyMatch(index -> Collections.binarySearch(part, index) >= 0);
    }

    private static void check(Protocol protocol, Dataset dataset, Fold fold, Note.Collector notes) {
        Set<Integer> trained = labels(dataset, fold.train());
        Set<Integer> tested = labels(dataset, fold.test());
        Set<Integer> validated = labels(dataset, fold.validation());
        List<String> untrained = new ArrayList<>();
        for (int label = 0; label < dataset.classes().size(); label++) {
            String category = dataset.classes().get(label);
            if (!trained.contains(label)) {
                untrained.add(category);
            } else if (!tested.contains(label)) {
                notes.add(Kind.UNTESTED_CLASSES, category + " (" + fold.name() + ")");
            }
            if (!validated.isEmpty() && !validated.contains(label)) {
                notes.add(Kind.UNVALIDATED_CLASSES, category + " (" + fold.name() + ")");
            }
        }
        String where = "the protocol " + protocol.text() + " does not fit this dataset: '" + fold.name() + "' has ";
        if (!untrained.isEmpty()) {
            throw new IllegalArgumentException(where + "no training image of " + String.join(", ", untrained)
                    + "; add some, or remove these classes");
        }
        if (tested.isEmpty()) {
            throw new IllegalArgumentException(where + "no test image");
        }
    }

    private static Set<Integer> labels(Dataset dataset, List<Integer> indexes) {
        Set<Integer> labels = new TreeSet<>();
        indexes.forEach(index -> labels.add(dataset.samples().get(index).label()));
        return labels;
    }
}
