package org.gramian.image.audit.finding;

import static org.gramian.image.audit.AuditReport.THRESHOLDS;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.AuditReport.Finding.Item;
import org.gramian.image.audit.AuditReport.Finding.Kind;
import org.gramian.image.audit.AuditReport.Finding.Severity;
import org.gramian.image.audit.AuditReport.UnreadableImage;
import org.gramian.image.audit.finding.Auditor.Partitioning;
import org.gramian.image.dataset.Note;

/** Findings about a whole dataset: classes, duplicates, unreadable images, and notes on its layout. */
public final class DatasetFindings {
    /** One training and one test image. */
    private static final int FEWEST = 2;

    /** Number of images of a group that a line names. */
    private static final int NAMED = 6;

    /** Notes that images or classes are missing. */
    private static final Set<Note.Kind> LOSSES = EnumSet.of(
            Note.Kind.OUTSIDE_LAYOUT,
            Note.Kind.NESTED,
            Note.Kind.UNUSED_IMAGES,
            Note.Kind.EMPTY_CLASSES,
            Note.Kind.ABSENT_CLASSES,
            Note.Kind.ABSENT_IMAGES,
            Note.Kind.UNLABELLED_IMAGES);

    private DatasetFindings() {}

    /** Finds too few, too small and imbalanced classes. */
    public static List<Finding> ofClasses(List<ClassCount> classes) {
        List<ClassCount> poor =
                classes.stream().filter(found -> found.readable() < FEWEST).toList();
        List<ClassCount> small = classes.stream()
                .filter(found -> found.readable() >= FEWEST && found.readable() < THRESHOLDS.fewImages())
                .toList();
        List<Finding> findings = new ArrayList<>();
        if (classes.size() < FEWEST) {
            String found = "there is " + (classes.isEmpty() ? "no class" : "only one class");
            findings.add(new Finding(Kind.TOO_FEW_CLASSES, found, items(classes)));
        }
        addFew(findings, Kind.TOO_FEW_IMAGES, poor, FEWEST);
        addFew(findings, Kind.SMALL_CLASSES, small, THRESHOLDS.fewImages());
        imbalance(classes).ifPresent(findings::add);
        return findings;
    }

    private static void addFew(List<Finding> findings, Kind kind, List<ClassCount> classes, int images) {
        if (!classes.isEmpty()) {
            String sentence = have(classes.size(), "class") + "fewer than " + images + " readable images";
            findings.add(new Finding(kind, sentence, items(classes)));
        }
    }

    private static Optional<Finding> imbalance(List<ClassCount> classes) {
        if (classes.isEmpty()) {
            return Optional.empty();
        }
        Comparator<ClassCount> bySize = Comparator.comparingInt(ClassCount::readable);
        ClassCount largest = classes.stream().max(bySize).orElseThrow();
        ClassCount smallest = classes.stream().min(bySize).orElseThrow();
        double ratio = (double) largest.readable() / Math.max(1, smallest.readable());
        String sentence = String.format(
                Locale.ROOT, "the largest class has %.1f times as many readable images as the smallest", ratio);
        return ratio <= THRESHOLDS.imbalance()
                ? Optional.empty()
                : Optional.of(new Finding(Kind.IMBALANCE, sentence, items(List.of(largest, smallest))));
    }

    private static List<Item> items(List<ClassCount> classes) {
        return classes.stream()
                .map(found -> new Item(found.name(), count(found.readable(), "image"), List.of()))
                .toList();
    }

    /** Finds classes without a readable image in a part of a split. */
    static List<Finding> ofSplits(Auditor.Input subject, List<ImageFacts> readable) {
        List<Item> missing = new ArrayList<>();
        for (Partitioning partitioning : subject.partitionings()) {
            for (String part : partitioning.complete() ? partitioning.names() : List.<String>of()) {
                Set<Integer> present = readable.stream()
                        .filter(fact -> partitioning.parts().get(fact.index()).equals(part))
                        .map(fact -> subject.label(fact.index()))
                        .collect(Collectors.toSet());
                List<String> classes = subject.dataset().classes();
                for (int label = 0; label < classes.size(); label++) {
                    if (!present.contains(label)) {
                        String where = "not in " + part + " of " + partitioning.name();
                        missing.add(new Item(classes.get(label), where, List.of()));
                    }
                }
            }
        }
        return missing.isEmpty()
                ? List.of()
                : List.of(new Finding(
                        Kind.CLASS_MISSING_FROM_SPLIT,
                        "classes without a readable image in a part of a split: " + missing.size(),
                        missing));
    }

    /**
     * Finds duplicates, each group under its worst effect: wrong labels, leakage between splits, or overweight. Exact duplicates
     * across classes or splits are errors. Near-duplicates are at most warnings: a person has to decide.
     */
    static List<Finding> ofDuplicates(List<DuplicateGroup> groups, boolean hasSplits) {
        Predicate<DuplicateGroup> exact = DuplicateGroup::exact;
        Predicate<DuplicateGroup> near = exact.negate();
        Predicate<DuplicateGroup> classes = DuplicateGroup::acrossClasses;
        Predicate<DuplicateGroup> splits =
                classes.negate().and(group -> !group.acrossSplits().isEmpty());
        Predicate<DuplicateGroup> within = classes.or(splits).negate();
        List<Finding> findings = new ArrayList<>();
        add(findings, groups, exact.and(classes), Kind.COPIES_ACROSS_CLASSES, "duplicates with different labels");
        String across = "duplicates across training, validation and test sets";
        add(findings, groups, exact.and(splits), Kind.COPIES_ACROSS_SPLITS, across);
        add(findings, groups, exact.and(within), Kind.COPIES, "duplicates");
        String labels = "near-duplicates with different labels";
        add(findings, groups, near.and(classes), Kind.NEAR_COPIES_ACROSS_CLASSES, labels);
        add(findings, groups, near.and(splits), Kind.NEAR_COPIES_ACROSS_SPLITS, "near-" + across);
        add(findings, groups, near.and(within), Kind.NEAR_COPIES, "near-duplicates");
        if (hasSplits && !findings.isEmpty() && findings.getLast().kind() == Kind.NEAR_COPIES) {
            Finding usual = findings.removeLast();
            String advice = "They count more than other images.";
            findings.add(new Finding(Severity.NOTE, usual.kind(), usual.sentence(), advice, usual.items()));
        }
        return findings;
    }

    private static void add(
            List<Finding> findings,
            List<DuplicateGroup> groups,
            Predicate<DuplicateGroup> which,
            Kind kind,
            String what) {
        List<DuplicateGroup> found = groups.stream().filter(which).toList();
        if (!found.isEmpty()) {
            int images = found.stream().mapToInt(group -> group.images().size()).sum();
            String sentence = count(images, "image") + " are " + what + ", in " + count(found.size(), "group");
            findings.add(new Finding(
                    kind, sentence, found.stream().map(DatasetFindings::item).toList()));
        }
    }

    private static Item item(DuplicateGroup group) {
        String sign = group.exact() ? " = " : " ~ ";
        String named =
                group.images().stream().limit(NAMED).map(AuditedImage::toString).collect(Collectors.joining(sign));
        int more = group.images().size() - NAMED;
        List<String> splits = group.acrossSplits();
        String separating = switch (splits.size()) {
            case 0, 1 -> ""; // the images show their parts of the only split
            case 2, 3 -> "split by " + String.join(" and ", splits);
            default -> "split by " + splits.size() + " splits";
        };
        return new Item(
                more > 0 ? named + sign + "and " + String.format(Locale.ROOT, "%,d", more) + " more" : named,
                separating,
                group.images().stream().map(AuditedImage::name).toList());
    }

    static List<Finding> ofUnreadable(List<UnreadableImage> unreadable) {
        List<Item> items = unreadable.stream()
                .map(lost -> new Item(
                        lost.image().toString(),
                        lost.reason(),
                        List.of(lost.image().name())))
                .toList();
        return items.isEmpty() ? List.of() : List.of(unreadable(items.size(), items));
    }

    /** Returns the finding about a number of unreadable images, of which {@code items} may name fewer. */
    public static Finding unreadable(int number, List<Item> items) {
        return new Finding(Kind.UNREADABLE, count(number, "image") + " cannot be read", items);
    }

    static Finding of(Note note) {
        return new Finding(
                severity(note.kind()),
                Kind.LAYOUT,
                new Note(note.kind(), note.count(), List.of()).text(),
                advice(note.kind()),
                note.examples().stream()
                        .map(example -> new Item(example, "", List.of()))
                        .toList());
    }

    private static Severity severity(Note.Kind kind) {
        if (kind == Note.Kind.EMPTY_CLASSES) {
            return Severity.SPOILS;
        }
        return LOSSES.contains(kind) ? Severity.WARN : Severity.NOTE;
    }

    private static String advice(Note.Kind kind) {
        return switch (kind) {
            case EMPTY_CLASSES -> "'train' refuses empty class folders: add images, or remove the folders.";
            case OUTSIDE_LAYOUT, NESTED, UNUSED_IMAGES, UNUSED_FOLDERS, EMPTY_VALIDATION ->
                "Another --layout may read more.";
            case NOT_IMAGES, VIDEOS, UNDECODABLE_NAMES, HIDDEN_FOLDERS, MASKS, UNUSED_COLUMNS, REPEATED_ROWS ->
                "Ignore this if they do not belong to the dataset.";
            case VALIDATION_TESTS ->
                "Hyperparameters selected on these images are then tested on them, which biases the result upwards.";
            case ABSENT_CLASSES, ABSENT_IMAGES -> "Complete the download, or correct the names in the lists.";
            case RELABELLED -> "Results are those of the corrected labels.";
            case SAMPLED -> "A longer --time-budget uses more images.";
            case UNLISTED_IMAGES, UNLABELLED_IMAGES -> "Add them to the lists to use them.";
            case UNTESTED_CLASSES, UNVALIDATED_CLASSES, STRADDLING_COPIES, COPIES_ACROSS_CLASSES, UNCOMPARED_FILES ->
                "Check them before trusting a result.";
        };
    }

    /** Returns a count with its noun, as {@code 1 image}, {@code 1,200 images}, {@code 3 classes}. */
    static String count(int number, String noun) {
        String plural = noun.endsWith("s") ? noun + "es" : noun + "s";
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? noun : plural);
    }

    /** Returns the count of those that have something, as {@code 2 images have }. */
    static String have(int number, String noun) {
        return count(number, noun) + (number == 1 ? " has " : " have ");
    }
}
