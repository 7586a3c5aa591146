package org.gramian.image.audit;

import static org.gramian.image.audit.Finding.count;
import static org.gramian.image.audit.Finding.verb;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.image.audit.AuditInput.Partitioning;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;

/** Findings about classes: too few, too small, imbalanced, missing from a part of a split. */
public final class ClassFindings {
    /** One training and one test image. */
    private static final int FEWEST = 2;

    private final AuditOptions options;
    private final List<ClassCount> classes;
    private final List<Finding> findings = new ArrayList<>();

    public ClassFindings(List<ClassCount> classes, AuditOptions options) {
        this.classes = classes;
        this.options = options;
    }

    /** Returns the findings from the counts. */
    public List<Finding> find() {
        findings.clear();
        tooFew();
        small();
        imbalance();
        return List.copyOf(findings);
    }

    /** Returns the findings from the counts and from the splits. */
    List<Finding> find(AuditInput subject, List<ImageStatistics> readable) {
        find();
        missing(subject, readable);
        return List.copyOf(findings);
    }

    private void tooFew() {
        if (classes.size() < FEWEST) {
            findings.add(new Finding(
                    Severity.SPOILS,
                    Kind.TOO_FEW_CLASSES,
                    "there is " + (classes.isEmpty() ? "no class" : "only one class"),
                    "A classifier needs at least two classes: is this the right folder?",
                    items(classes)));
        }
        List<ClassCount> poor =
                classes.stream().filter(found -> found.readable() < FEWEST).toList();
        if (!poor.isEmpty()) {
            findings.add(new Finding(
                    Severity.SPOILS,
                    Kind.TOO_FEW_IMAGES,
                    count(poor.size(), "class") + verb(poor.size(), " has", " have") + " fewer than " + FEWEST
                            + " readable images",
                    "A class needs a training image and a test image: add some, or remove the class.",
                    items(poor)));
        }
    }

    private void small() {
        List<ClassCount> small = classes.stream()
                .filter(found -> found.readable() >= FEWEST && found.readable() < options.fewImages())
                .toList();
        if (!small.isEmpty()) {
            findings.add(new Finding(
                    Severity.WARN,
                    Kind.SMALL_CLASSES,
                    count(small.size(), "class") + verb(small.size(), " has", " have") + " fewer than "
                            + options.fewImages() + " readable images",
                    "The accuracy of so small a class is unreliable: add images.",
                    items(small)));
        }
    }

    private void imbalance() {
        if (classes.isEmpty()) {
            return;
        }
        Comparator<ClassCount> bySize = Comparator.comparingInt(ClassCount::readable);
        ClassCount largest = classes.stream().max(bySize).orElseThrow();
        ClassCount smallest = classes.stream().min(bySize).orElseThrow();
        double ratio = (double) largest.readable() / Math.max(1, smallest.readable());
        if (ratio > options.imbalance()) {
            findings.add(new Finding(
                    Severity.WARN,
                    Kind.IMBALANCE,
                    String.format(
                            Locale.ROOT,
                            "the largest class has %.1f times as many readable images as the smallest",
                            ratio),
                    "Accuracy favours large classes: use balanced accuracy, class weights, or balance the classes.",
                    items(List.of(largest, smallest))));
        }
    }

    private void missing(AuditInput subject, List<ImageStatistics> readable) {
        List<Item> missing = new ArrayList<>();
        for (Partitioning partitioning : subject.partitionings()) {
            for (String part : partitioning.complete() ? partitioning.names() : List.<String>of()) {
                Set<Integer> present = readable.stream()
                        .filter(fact -> partitioning.parts().get(fact.index()).equals(part))
                        .map(fact -> subject.label(fact.index()))
                        .collect(Collectors.toSet());
                for (int label = 0; label < classes.size(); label++) {
                    if (!present.contains(label)) {
                        String where = "not in " + part + " of " + partitioning.name();
                        missing.add(new Item(classes.get(label).name(), where, List.of()));
                    }
                }
            }
        }
        if (!missing.isEmpty()) {
            findings.add(new Finding(
                    Severity.SPOILS,
                    Kind.CLASS_MISSING_FROM_SPLIT,
                    "classes without a readable image in a part of a split: " + missing.size(),
                    "A class needs training images to be learned and test images to be evaluated: add images there.",
                    missing));
        }
    }

    private static List<Item> items(List<ClassCount> classes) {
        return classes.stream()
                .map(found -> new Item(found.name(), count(found.readable(), "image"), List.of()))
                .toList();
    }
}
