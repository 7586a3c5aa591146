package org.gramian.image.audit;

import static org.gramian.image.audit.Wording.count;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;

/**
 * What copies do to training, each group under the worst that it does: a label that is wrong, a test that is known
 * beforehand, or only more weight than its due.
 *
 * <p>Exact duplicates are errors where they cross classes or splits. Near-duplicates never are by themselves, since what is near is a
 * matter of opinion (two shots of one wall, say): they are shown to a person.
 */
final class DuplicateFindings {
    /** A group may have thousands of images, a line has room for a few. */
    private static final int NAMED = 6;

    private final List<DuplicateGroup> groups;
    private final boolean divided;
    private final List<Finding> findings = new ArrayList<>();

    /** @param divided whether the dataset comes with splits */
    DuplicateFindings(List<DuplicateGroup> groups, boolean divided) {
        this.groups = groups;
        this.divided = divided;
    }

    List<Finding> find() {
        Predicate<DuplicateGroup> exact = DuplicateGroup::exact;
        exact(exact);
        near(exact.negate());
        return findings;
    }

    private void exact(Predicate<DuplicateGroup> exact) {
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
    }

    private void near(Predicate<DuplicateGroup> near) {
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
                divided ? Severity.NOTE : Severity.WARN,
                Kind.NEAR_COPIES,
                near.and(DuplicateFindings::withinOne),
                "are near-duplicates",
                divided
                        ? "They count more than other images."
                        : "Training keeps them on one side of a random split, unless --near-duplicates ignore.");
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

    private static Item item(DuplicateGroup group) {
        String sign = group.exact() ? " = " : " ~ ";
        String named =
                group.images().stream().limit(NAMED).map(AuditedImage::toString).collect(Collectors.joining(sign));
        int more = group.images().size() - NAMED;
        return new Item(
                more > 0 ? named + sign + "and " + String.format(Locale.ROOT, "%,d", more) + " more" : named,
                Wording.divided(group.acrossSplits()),
                group.images().stream().map(AuditedImage::name).toList());
    }
}
