package org.gramian.image.audit.finding;

import static org.gramian.image.audit.AuditReport.THRESHOLDS;
import static org.gramian.image.audit.finding.DatasetFindings.have;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.gramian.basis.NamedArguments;
import org.gramian.image.ImageInfo;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.AuditReport.Finding.Item;
import org.gramian.image.audit.AuditReport.Finding.Kind;
import org.gramian.image.crop.Crops;

/** Issues of a single image: size, shape, colours, or name. Each is a {@link Finding.Kind} of the same name. */
public enum ImageIssue {
    TINY,
    ENLARGED,
    TOO_THIN,
    EXTREME_ASPECT,
    SINGLE_COLOUR,
    COLOUR_MODES,
    TURNED,
    WRONG_EXTENSION;

    static List<Finding> findings(Auditor.Input subject, List<ImageFacts> images) {
        List<Finding> findings = new ArrayList<>();
        for (ImageIssue issue : values()) {
            List<ImageFacts> found = images.stream()
                    .filter(image ->
                            issue.applies(image, subject.member(image.index()).name()))
                    .toList();
            if (!found.isEmpty()) {
                List<Item> items = new ArrayList<>();
                for (ImageFacts image : found) {
                    AuditedImage member = subject.member(image.index());
                    items.add(new Item(member.toString(), issue.detail(image), List.of(member.name())));
                }
                String modes = issue == COLOUR_MODES ? modes(found) : "";
                findings.add(issue.finding(found.size(), items, issue.what() + modes));
            }
        }
        return findings;
    }

    private static String modes(List<ImageFacts> found) {
        return found.stream()
                .collect(Collectors.groupingBy(image -> mode(image.origin()), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", ", ": ", ""));
    }

    boolean applies(ImageFacts fact, String name) {
        return switch (this) {
            case TINY -> fact.shortSide() < THRESHOLDS.tinySide();
            case ENLARGED -> fact.shortSide() >= THRESHOLDS.tinySide() && fact.shortSide() < THRESHOLDS.inputSide();
            case TOO_THIN -> fact.tooThin();
            case EXTREME_ASPECT -> fact.aspect() > THRESHOLDS.extremeAspect() && !fact.tooThin();
            case SINGLE_COLOUR -> fact.range() <= THRESHOLDS.flatRange();
            case COLOUR_MODES ->
                fact.origin().colour() != ImageInfo.Colour.RGB || fact.origin().bits() != 8;
            case TURNED -> fact.turned();
            case WRONG_EXTENSION -> !fact.origin().format().hasExtension(name);
        };
    }

    /** Returns a detail of an image, as {@code 50×50}. */
    private String detail(ImageFacts fact) {
        return switch (this) {
            case TINY, ENLARGED, TOO_THIN, EXTREME_ASPECT, SINGLE_COLOUR -> fact.width() + "×" + fact.height();
            case COLOUR_MODES -> mode(fact.origin());
            case TURNED -> "EXIF orientation " + fact.origin().orientation();
            case WRONG_EXTENSION -> "is " + fact.origin().format();
        };
    }

    private static String mode(ImageInfo origin) {
        String colour = origin.colour().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return origin.bits() == 8 ? colour : colour + ", " + origin.bits() + " bit";
    }

    /** Returns the finding for a number of images, of which {@code items} may name fewer. */
    public Finding finding(int number, List<Item> items) {
        return finding(number, items, what());
    }

    private Finding finding(int number, List<Item> items, String what) {
        return new Finding(Kind.valueOf(name()), have(number, "image") + what, items);
    }

    private String what() {
        return switch (this) {
            case TINY -> "a short side below " + THRESHOLDS.tinySide() + " pixels";
            case ENLARGED -> "a short side below " + THRESHOLDS.inputSide() + " pixels";
            case TOO_THIN -> "sides of more than " + Crops.MAX_ASPECT + " : 1";
            case EXTREME_ASPECT -> "sides of more than " + NamedArguments.decimal(THRESHOLDS.extremeAspect()) + " : 1";
            case SINGLE_COLOUR -> "a single colour";
            case COLOUR_MODES -> "colours other than 8-bit RGB";
            case TURNED -> "an EXIF orientation";
            case WRONG_EXTENSION -> "an extension of another format";
        };
    }
}
