package org.gramian.image.audit;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** A dataset and its published splits: none, one, or several as DTD's ten. */
record AuditInput(Dataset dataset, List<Partitioning> partitionings) {
    static AuditInput of(Dataset dataset) {
        return new AuditInput(dataset, Partitioning.of(dataset.assignment()));
    }

    /** Returns an image as the report names it. */
    AuditedImage member(int index) {
        Sample sample = dataset.samples().get(index);
        return new AuditedImage(
                sample.name(),
                dataset.className(sample),
                partitionings.size() == 1 ? partitionings.getFirst().parts().get(index) : "");
    }

    int label(int index) {
        return dataset.samples().get(index).label();
    }

    /** Returns the parts of the only partitioning, in which classes are counted. */
    List<String> parts() {
        return partitionings.size() == 1 ? partitionings.getFirst().names() : List.of();
    }

    /** Returns the names of the partitionings that put images into different parts. */
    List<String> separating(Collection<Integer> images) {
        return partitionings.stream()
                .filter(partitioning -> partitioning.separates(images))
                .map(Partitioning::name)
                .toList();
    }

    /**
     * A partition of a dataset into train, validation and test set, folds, or physical samples.
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
                                    split.parts().stream()
                                            .map(Partitioning::word)
                                            .toList(),
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

        private static String word(SplitPart part) {
            return part == SplitPart.UNUSED ? "" : part.word();
        }

        /** Returns the names of its parts. */
        List<String> names() {
            Stream<String> all = complete
                    ? Arrays.stream(SplitPart.values()).map(SplitPart::word)
                    : parts.stream().sorted();
            return all.distinct()
                    .filter(part -> !part.isEmpty() && parts.contains(part))
                    .toList();
        }

        /** Returns whether images are in more than one part. */
        boolean separates(Collection<Integer> images) {
            return images.stream()
                            .map(parts::get)
                            .filter(part -> !part.isEmpty())
                            .distinct()
                            .count()
                    > 1;
        }
    }
}
