package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.Finding.Severity;

/**
 * The result of an audit; the same for the same files, for any number of threads.
 *
 * @param splits the parts of the only published split, in the order of {@link ClassCount#splits}; empty without one
 * @param content 64 hexadecimal digits, a hash of the names and pixels of all readable images
 */
public record AuditReport(
        String root,
        String layout,
        Thresholds options,
        List<String> splits,
        String content,
        List<ClassCount> classes,
        Contents contents,
        List<UnreadableImage> unreadable,
        List<DuplicateGroup> duplicates,
        List<Finding> findings) {
    /** Thresholds of the findings; sides in pixels, {@code flatRange} in levels of a byte. */
    public record Thresholds(
            int hashDistance,
            double difference,
            int tinySide,
            int inputSide,
            double extremeAspect,
            double imbalance,
            int fewImages,
            int flatRange) {}

    /**
     * The thresholds and their reasons.
     *
     * <ul>
     *   <li>7 bits and 0.12: of 550 images of FMD and DTD, copies compressed at quality 0.75 or halved in size stayed
     *       within both in at least 98 of 100 cases; of all 2,200, ten pairs that look the same were within 0.05, and no
     *       other pair came nearer than 0.21. The thresholds were chosen on these images.
     *   <li>64 pixels: enlarged to 224, more than 9 of 10 pixels are interpolated.
     *   <li>224 pixels: the input of ImageNet's networks.
     *   <li>3:1: a square crop sees a third of the image, squeezing it into a square distorts its texture as much.
     *   <li>10:1: the usual line in work on long-tailed classes; beyond it plain accuracy misleads.
     *   <li>10 images: below that a class has one image or none in a tenth held out.
     *   <li>4 of 255: what compression makes of a single colour.
     * </ul>
     */
    static final Thresholds THRESHOLDS = new Thresholds(7, 0.12, 64, 224, 3, 10, 10, 4);

    /** Name of the JSON file in the folder of a run. */
    public static final String FILE_NAME = "audit.json";

    /** Returns the report of the same folder under another path. */
    public AuditReport withRoot(String other) {
        return new AuditReport(
                other, layout, options, splits, content, classes, contents, unreadable, duplicates, findings);
    }

    public String json() {
        return JsonText.indented(this) + "\n";
    }

    /** Writes the report as JSON, replacing the file atomically. */
    public void write(Path file) throws IOException {
        AtomicFile.putText(file, text -> text.write(json()));
    }

    @JsonProperty("images")
    public int images() {
        return contents.readable() + unreadable.size();
    }

    /** Returns whether there are findings that invalidate training or its results. */
    @JsonProperty("spoils")
    public boolean spoils() {
        return count(Severity.SPOILS) > 0;
    }

    public int count(Severity severity) {
        return (int) findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    public Optional<Finding> finding(Finding.Kind kind) {
        return findings.stream().filter(finding -> finding.kind() == kind).findFirst();
    }

    /**
     * An image as the report names it.
     *
     * @param split the part of the dataset's only split that it is in, as {@code train}; empty where there is no split,
     *     where there are several, or where it takes no part
     */
    public record AuditedImage(String name, String label, String split) {
        /** For example {@code paper/b.jpg [train]}; the class is said where it does not show in the name. */
        @Override
        public String toString() {
            String where = name.startsWith(label + "/") || name.contains("/" + label + "/") ? "" : label;
            String part = name.startsWith(split + "/") ? "" : split;
            String both = where + (where.isEmpty() || part.isEmpty() ? "" : ", ") + part;
            return both.isEmpty() ? name : name + " [" + both + "]";
        }
    }

    public record UnreadableImage(AuditedImage image, ReadResult.Problem problem, String reason) {}

    /** Number of images of a class; {@code splits} counts readable ones in each part of {@link #splits}. */
    public record ClassCount(String name, int images, int readable, List<Integer> splits) {}

    /** Formats, colours and sizes of the readable images; {@code turned} of them had an EXIF orientation. */
    public record Contents(
            int readable,
            Spread width,
            Spread height,
            Map<ImageFormat, Integer> formats,
            Map<ImageInfo.Colour, Integer> colours,
            Map<Integer, Integer> bits,
            int turned,
            List<SizeCount> sizes) {
        /** Minimum, median and maximum; all 0 without images. */
        public record Spread(int smallest, int median, int largest) {
            static Spread of(List<Integer> numbers) {
                if (numbers.isEmpty()) {
                    return new Spread(0, 0, 0);
                }
                List<Integer> sorted = numbers.stream().sorted().toList();
                return new Spread(sorted.getFirst(), sorted.get((sorted.size() - 1) / 2), sorted.getLast());
            }
        }

        public record SizeCount(int width, int height, int images) {}

        static Contents of(List<ImageFacts> facts) {
            return new Contents(
                    facts.size(),
                    Spread.of(facts.stream().map(ImageFacts::width).toList()),
                    Spread.of(facts.stream().map(ImageFacts::height).toList()),
                    count(facts, fact -> fact.origin().format()),
                    count(facts, fact -> fact.origin().colour()),
                    count(facts, fact -> fact.origin().bits()),
                    (int) facts.stream().filter(ImageFacts::turned).count(),
                    sizes(facts));
        }

        private static <K> SortedMap<K, Integer> count(List<ImageFacts> facts, Function<ImageFacts, K> key) {
            return facts.stream().collect(Collectors.toMap(key, _ -> 1, Integer::sum, TreeMap::new));
        }

        private static List<SizeCount> sizes(List<ImageFacts> facts) {
            SortedMap<Long, Integer> counts = count(facts, fact -> (long) fact.width() << 32 | fact.height());
            List<SizeCount> sizes = new ArrayList<>();
            counts.forEach((size, count) -> sizes.add(new SizeCount((int) (size >> 32), size.intValue(), count)));
            return List.copyOf(sizes);
        }
    }

    /**
     * Images that are duplicates or near-duplicates of each other.
     *
     * @param difference the largest relative difference of the pairs that joined the group, not of all its pairs; 0 for equal pixels
     */
    public record DuplicateGroup(
            Kind kind, List<AuditedImage> images, boolean acrossClasses, List<String> acrossSplits, double difference) {
        /** How similar duplicates are. */
        public enum Kind {
            /** The same bytes. */
            SAME_FILE,
            /** Different files that show the same pixels. */
            SAME_PIXELS,
            /**
             * Almost the same image: compressed or resized anew, made brighter or darker. Mirrored, rotated or visibly cropped
             * duplicates are not found.
             */
            NEAR
        }

        public boolean exact() {
            return kind != Kind.NEAR;
        }
    }
}
