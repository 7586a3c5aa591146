package org.gramian.image.audit;

import static org.gramian.image.audit.Wording.count;
import static org.gramian.image.audit.Wording.verb;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.gramian.image.Origin;
import org.gramian.image.PictureFormat;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;
import org.gramian.image.crop.Crops;

/** What is odd about single pictures: their size, shape, colours, or name. */
final class PictureFindings {
    private static final Map<PictureFormat, List<String>> EXTENSIONS = Map.of(
            PictureFormat.JPEG, List.of("jpg", "jpeg", "jpe", "jfif"),
            PictureFormat.PNG, List.of("png"),
            PictureFormat.GIF, List.of("gif"),
            PictureFormat.BMP, List.of("bmp", "dib"),
            PictureFormat.TIFF, List.of("tif", "tiff"),
            PictureFormat.WEBP, List.of("webp"));

    private final Subject subject;
    private final List<Facts> facts;
    private final AuditOptions options;
    private final List<Finding> findings = new ArrayList<>();

    PictureFindings(Subject subject, List<Facts> facts, AuditOptions options) {
        this.subject = subject;
        this.facts = facts;
        this.options = options;
    }

    List<Finding> find() {
        sizes();
        colours();
        names();
        return findings;
    }

    private void sizes() {
        Function<Facts, String> size = fact -> fact.width() + "×" + fact.height();
        add(
                select(Severity.WARN, Kind.TINY, fact -> fact.shortSide() < options.tinySide(), size),
                "a short side below " + options.tinySide() + " pixels",
                "Enlarged for a network, most of their pixels are invented: use the originals if there are any.");
        add(
                select(
                        Severity.NOTE,
                        Kind.ENLARGED,
                        fact -> fact.shortSide() >= options.tinySide() && fact.shortSide() < options.inputSide(),
                        size),
                "a short side below " + options.inputSide() + " pixels",
                "They are enlarged for networks with an input of that size.");
        add(
                select(Severity.SPOILS, Kind.TOO_THIN, Facts::tooThin, size),
                "sides of more than " + Crops.MOST_ASPECT + " : 1",
                "Crops that keep the aspect refuse them: cut them into pieces, or train with the crops 'resize'.");
        add(
                select(
                        Severity.WARN,
                        Kind.EXTREME_ASPECT,
                        fact -> fact.aspect() > options.extremeAspect() && !fact.tooThin(),
                        size),
                String.format(Locale.ROOT, "sides of more than %s : 1", number(options.extremeAspect())),
                "Square crops see little of them, resizing to a square distorts them: cut them into pieces.");
        add(
                select(Severity.WARN, Kind.SINGLE_COLOUR, fact -> fact.range() <= options.flatRange(), size),
                "a single colour",
                "There is nothing to learn from: remove them, unless the colour is the class.");
    }

    private void colours() {
        add(
                select(Severity.NOTE, Kind.COLOUR_MODES, fact -> !plain(fact.origin()), fact -> mode(fact.origin())),
                "colours other than 8-bit RGB",
                "They are converted to it; transparency goes onto white. Make sure that no class is told by this alone.");
        add(
                select(
                        Severity.NOTE,
                        Kind.TURNED,
                        Facts::turned,
                        fact -> "EXIF orientation " + fact.origin().orientation()),
                "an EXIF orientation",
                "They are put upright; programs that ignore the orientation see them lying.");
    }

    private void names() {
        add(
                select(
                        Severity.NOTE,
                        Kind.WRONG_EXTENSION,
                        this::misnamed,
                        fact -> "is " + fact.origin().format()),
                "an extension of another format",
                "They are read by their content; programs that go by the name may fail on them.");
    }

    private boolean misnamed(Facts fact) {
        String name = subject.member(fact.index()).name();
        String extension = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        return !EXTENSIONS.getOrDefault(fact.origin().format(), List.of()).contains(extension);
    }

    private static boolean plain(Origin origin) {
        return origin.colour() == Origin.Colour.RGB && origin.bits() == 8;
    }

    private static String mode(Origin origin) {
        String colour = origin.colour().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return origin.bits() == 8 ? colour : colour + ", " + origin.bits() + " bit";
    }

    /** Pictures that have something in common, without the words for it yet. */
    private record Selection(Severity severity, Kind kind, List<Item> items, String kinds) {}

    private Selection select(Severity severity, Kind kind, Predicate<Facts> which, Function<Facts, String> detail) {
        List<Facts> found = facts.stream().filter(which).toList();
        List<Item> items = found.stream()
                .map(fact -> {
                    Member member = subject.member(fact.index());
                    return new Item(member.toString(), detail.apply(fact), List.of(member.name()));
                })
                .toList();
        return new Selection(severity, kind, items, kind == Kind.COLOUR_MODES ? kinds(found) : "");
    }

    private static String kinds(List<Facts> found) {
        return found.stream()
                .collect(Collectors.groupingBy(fact -> mode(fact.origin()), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", ", ": ", ""));
    }

    private void add(Selection selection, String what, String advice) {
        int number = selection.items.size();
        if (number > 0) {
            String sentence = count(number, "picture") + verb(number, " has ", " have ") + what + selection.kinds;
            findings.add(new Finding(selection.severity, selection.kind, sentence, advice, selection.items));
        }
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}
