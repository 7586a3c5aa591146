package org.gramian.image.audit;

import static org.gramian.image.audit.Finding.count;
import static org.gramian.image.audit.Finding.verb;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;
import org.gramian.image.audit.Finding.Severity;
import org.gramian.image.crop.Crops;

/** Issues of a single image: size, shape, colours, or name. */
public enum ImageIssue {
    TINY(
            Severity.WARN,
            Kind.TINY,
            "Most of their pixels are interpolated when they are enlarged for a network: use the originals if"
                    + " available."),
    ENLARGED(Severity.NOTE, Kind.ENLARGED, "They are enlarged for networks with an input of that size."),
    TOO_THIN(
            Severity.SPOILS,
            Kind.TOO_THIN,
            "Crops that keep the aspect ratio reject them: cut them into pieces, or train with the crops 'resize'."),
    EXTREME_ASPECT(
            Severity.WARN,
            Kind.EXTREME_ASPECT,
            "Square crops contain little of them, resizing to a square distorts them: cut them into pieces."),
    SINGLE_COLOUR(
            Severity.WARN, Kind.SINGLE_COLOUR, "They carry no texture: remove them, unless the colour is the class."),
    COLOUR_MODES(
            Severity.NOTE,
            Kind.COLOUR_MODES,
            "They are converted to RGB, transparency to white. Make sure that no class differs by the format alone."),
    TURNED(
            Severity.NOTE,
            Kind.TURNED,
            "They are rotated upright; programs that ignore the EXIF orientation see them rotated."),
    WRONG_EXTENSION(
            Severity.NOTE,
            Kind.WRONG_EXTENSION,
            "The format is detected by content; programs that rely on the extension may fail on them.");

    /** The usual extensions of each format, in lower case. */
    private static final Map<ImageFormat, List<String>> EXTENSIONS = Map.of(
            ImageFormat.JPEG, List.of("jpg", "jpeg", "jpe", "jfif"),
            ImageFormat.PNG, List.of("png"),
            ImageFormat.GIF, List.of("gif"),
            ImageFormat.BMP, List.of("bmp", "dib"),
            ImageFormat.TIFF, List.of("tif", "tiff"),
            ImageFormat.WEBP, List.of("webp"));

    private final Severity severity;
    private final Kind kind;
    private final String advice;

    ImageIssue(Severity severity, Kind kind, String advice) {
        this.severity = severity;
        this.kind = kind;
        this.advice = advice;
    }

    /** Returns a finding for every issue that occurs. */
    static List<Finding> findings(AuditInput subject, List<ImageFacts> images, AuditOptions options) {
        List<Finding> findings = new ArrayList<>();
        for (ImageIssue issue : values()) {
            List<ImageFacts> found = images.stream()
                    .filter(image ->
                            issue.applies(image, subject.member(image.index()).name(), options))
                    .toList();
            if (!found.isEmpty()) {
                List<Item> items = found.stream()
                        .map(image -> {
                            AuditedImage member = subject.member(image.index());
                            return new Item(member.toString(), issue.detail(image), List.of(member.name()));
                        })
                        .toList();
                String modes = issue == COLOUR_MODES ? modes(found) : "";
                findings.add(issue.finding(found.size(), items, issue.what(options) + modes));
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

    /** Returns whether an image has the issue. */
    boolean applies(ImageFacts fact, String name, AuditOptions options) {
        return switch (this) {
            case TINY -> fact.shortSide() < options.tinySide();
            case ENLARGED -> fact.shortSide() >= options.tinySide() && fact.shortSide() < options.inputSide();
            case TOO_THIN -> fact.tooThin();
            case EXTREME_ASPECT -> fact.aspect() > options.extremeAspect() && !fact.tooThin();
            case SINGLE_COLOUR -> fact.range() <= options.flatRange();
            case COLOUR_MODES ->
                fact.origin().colour() != ImageInfo.Colour.RGB || fact.origin().bits() != 8;
            case TURNED -> fact.turned();
            case WRONG_EXTENSION -> misnamed(fact, name);
        };
    }

    private static boolean misnamed(ImageFacts fact, String name) {
        String extension = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        return !EXTENSIONS.getOrDefault(fact.origin().format(), List.of()).contains(extension);
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
    public Finding finding(int number, List<Item> items, AuditOptions options) {
        return finding(number, items, what(options));
    }

    private Finding finding(int number, List<Item> items, String what) {
        String sentence = count(number, "image") + verb(number, " has ", " have ") + what;
        return new Finding(severity, kind, sentence, advice, items);
    }

    private String what(AuditOptions options) {
        return switch (this) {
            case TINY -> "a short side below " + options.tinySide() + " pixels";
            case ENLARGED -> "a short side below " + options.inputSide() + " pixels";
            case TOO_THIN -> "sides of more than " + Crops.MOST_ASPECT + " : 1";
            case EXTREME_ASPECT -> "sides of more than " + number(options.extremeAspect()) + " : 1";
            case SINGLE_COLOUR -> "a single colour";
            case COLOUR_MODES -> "colours other than 8-bit RGB";
            case TURNED -> "an EXIF orientation";
            case WRONG_EXTENSION -> "an extension of another format";
        };
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}
