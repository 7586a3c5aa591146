package org.gramian.image.audit;

import static org.gramian.image.audit.Finding.count;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;

/**
 * Findings about duplicates, each group under its worst effect: wrong labels, leakage between splits, or overweight.
 *
 * <p>Exact duplicates across classes or splits are errors. Near-duplicates are at most warnings: a person has to decide.
 */
final class DuplicateFindings {
    /** Number of images of a group that a line names. */
    private static final int NAMED = 6;

    private final List<DuplicateGroup> groups;
    private final boolean hasSplits;
    private final List<Finding> findings = new ArrayList<>();

    /** @param hasSplits whether the dataset comes with splits */
    DuplicateFindings(List<DuplicateGroup> groups, boolean hasSplits) {
        this.groups = groups;
        this.hasSplits = hasSplits;
    }

    List<Finding> find() {
        Predicate<DuplicateGroup> exact = DuplicateGroup::exact;
        Predicate<DuplicateGroup> near = exact.negate();
        add(
                Severity.SPOILS,
                Kind.COPIES_ACROSS_CLASSES,
                exact.and(DuplicateGroup::acrossClasses),
                "are duplicates with different labels",
                "One of the labels is wrong, or an image shows both classes: keep one copy, or none.");
        add(
                Severity.SPOILS,
                Kind.COPIES_ACROSS_SPLITS,
                exact.and(DuplicateFindings::acrossSplitsOnly),
                "are duplicates across training, validation and test sets",
                "Test images were seen in training, so the accuracy is too high: keep one copy.");
        add(
                Severity.WARN,
                Kind.COPIES,
                exact.and(DuplicateFindings::withinOne),
                "are duplicates",
                "They count more than other images. Training keeps them on one side of a random split.");
        add(
                Severity.WARN,
                Kind.NEAR_COPIES_ACROSS_CLASSES,
                near.and(DuplicateGroup::acrossClasses),
                "are near-duplicates with different labels",
                "Check them: one of the labels may be wrong.");
        add(
                Severity.WARN,
                Kind.NEAR_COPIES_ACROSS_SPLITS,
                near.and(DuplicateFindings::acrossSplitsOnly),
                "are near-duplicates across training, validation and test sets",
                "Check them: test images that resemble training images make the accuracy too high.");
        add(
                hasSplits ? Severity.NOTE : Severity.WARN,
                Kind.NEAR_COPIES,
                near.and(DuplicateFindings::withinOne),
                "are near-duplicates",
                hasSplits
                        ? "They count more than other images."
                        : "Training keeps them on one side of a random split, unless --near-duplicates ignore.");
        return findings;
    }

    private static boolean acrossSplitsOnly(DuplicateGroup group) {
        return !group.acrossClasses() && !group.acrossSplits().isEmpty();
    }

    private static boolean withinOne(DuplicateGroup group) {
        return !group.acrossClasses() && group.acrossSplits().isEmpty();
    }

    private void add(Severity severity, Kind kind, Predicate<DuplicateGroup> which, String what, String advice) {
        List<DuplicateGroup> found = groups.stream().filter(which).toList();
        if (!found.isEmpty()) {
            int images = found.stream().mapToInt(group -> group.images().size()).sum();
            findings.add(new Finding(
                    severity,
                    kind,
                    count(images, "image") + " " + what + ", in " + count(found.size(), "group"),
                    advice,
                    found.stream().map(DuplicateFindings::item).toList()));
        }
    }

    /** Returns the splits that separate duplicates; empty for one split, since the images then show their parts. */
    private static String separating(List<String> splits) {
        return switch (splits.size()) {
            case 0, 1 -> "";
            case 2, 3 -> "split by " + String.join(" and ", splits);
            default -> "split by " + splits.size() + " splits";
        };
    }

    private static Item item(DuplicateGroup group) {
        String sign = group.exact() ? " = " : " ~ ";
        String named =
                group.images().stream().limit(NAMED).map(AuditedImage::toString).collect(Collectors.joining(sign));
        int more = group.images().size() - NAMED;
        return new Item(
                more > 0 ? named + sign + "and " + String.format(Locale.ROOT, "%,d", more) + " more" : named,
                separating(group.acrossSplits()),
                group.images().stream().map(AuditedImage::name).toList());
    }
}
