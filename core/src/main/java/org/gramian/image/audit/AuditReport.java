package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport.Finding.Severity;

/**
 * The result of an audit; the same for the same files, for any number of threads.
 *
 * @param splits the parts of the only published split, in the order of {@link ClassCount#splits}; empty without one
 * @param content 64 hexadecimal digits, a hash of the names and pixels of all readable images
 * @since 0.1
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
    public static final Thresholds THRESHOLDS = new Thresholds(7, 0.12, 64, 224, 3, 10, 10, 4);

    /** Name of the JSON file in the folder of a run. */
    public static final String FILE_NAME = "audit.json";

    /** Returns the report of the same folder under another path. */
    public AuditReport withRoot(String other) {
        return new AuditReport(
                other, layout, options, splits, content, classes, contents, unreadable, duplicates, findings);
    }

    /** Returns the report as JSON. */
    public String toJson() {
        return JsonText.indented(this) + "\n";
    }

    /** Writes the report as JSON, replacing the file atomically. */
    public void write(Path file) throws IOException {
        AtomicFile.putText(file, text -> text.write(toJson()));
    }

    /** Returns the number of images, readable or not. */
    @JsonProperty("images")
    public int images() {
        return contents.readable() + unreadable.size();
    }

    /** Returns whether there are findings that invalidate training or its results. */
    @JsonProperty("spoils")
    public boolean spoils() {
        return count(Severity.SPOILS) > 0;
    }

    /** Returns the number of findings of a severity. */
    public int count(Severity severity) {
        return (int) findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /** Returns the finding of a kind, if there is one. */
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

    /** An image that cannot be read. */
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
        public record Spread(int smallest, int median, int largest) {}

        /** Number of images of a size. */
        public record SizeCount(int width, int height, int images) {}
    }

    /**
     * Images that are duplicates or near-duplicates of each other.
     *
     * @param difference the largest relative difference of the pairs that joined the group, not of all its pairs; 0 for equal pixels
     */
    public record DuplicateGroup(
            DuplicateGroup.Kind kind,
            List<AuditedImage> images,
            boolean acrossClasses,
            List<String> acrossSplits,
            double difference) {
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

        /** Returns whether all images show the same pixels. */
        public boolean exact() {
            return kind != DuplicateGroup.Kind.NEAR;
        }
    }

    /** A problem that the audit found. */
    public record Finding(Severity severity, Finding.Kind kind, String sentence, String advice, List<Item> items) {
        /** Creates a finding of the usual severity and with the usual advice of its kind. */
        public Finding(Finding.Kind kind, String sentence, List<Item> items) {
            this(kind.severity, kind, sentence, kind.advice, items);
        }

        /** Severity of a finding, the worst first. */
        public enum Severity {
            /** Training would fail, learn wrong labels, or report wrong results. */
            SPOILS("error"),
            /** Training works, but check it first. */
            WARN("warning"),
            NOTE("note");

            private final String text;

            Severity(String text) {
                this.text = text;
            }

            /** Returns the word that is shown, as {@code error}; files in JSON hold the constant's name. */
            public String text() {
                return text;
            }
        }

        /** Kinds of findings, in the order of a report among those of one severity. */
        public enum Kind {
            UNREADABLE(Severity.SPOILS, "Training skips them: repair, replace or remove them."),
            TOO_THIN(
                    Severity.SPOILS,
                    "Crops that keep the aspect ratio reject them: cut them into pieces, or train with the crops"
                            + " 'resize'."),
            TOO_FEW_CLASSES(Severity.SPOILS, "A classifier needs at least two classes: is this the right folder?"),
            TOO_FEW_IMAGES(
                    Severity.SPOILS, "A class needs a training image and a test image: add some, or remove the class."),
            CLASS_MISSING_FROM_SPLIT(
                    Severity.SPOILS,
                    "A class needs training images to be learned and test images to be evaluated: add images there."),
            COPIES_ACROSS_CLASSES(
                    Severity.SPOILS,
                    "One of the labels is wrong, or an image shows both classes: keep one copy, or none."),
            COPIES_ACROSS_SPLITS(
                    Severity.SPOILS, "Test images were seen in training, so the accuracy is too high: keep one copy."),
            NEAR_COPIES_ACROSS_CLASSES(Severity.WARN, "Check them: one of the labels may be wrong."),
            NEAR_COPIES_ACROSS_SPLITS(
                    Severity.WARN, "Check them: test images that resemble training images make the accuracy too high."),
            COPIES(
                    Severity.WARN,
                    "They count more than other images. Training keeps them on one side of a random split."),
            NEAR_COPIES(
                    Severity.WARN,
                    "Training keeps them on one side of a random split, unless --near-duplicates ignore."),
            IMBALANCE(
                    Severity.WARN,
                    "Accuracy favours large classes: use balanced accuracy, class weights, or balance the classes."),
            SMALL_CLASSES(Severity.WARN, "The accuracy of so small a class is unreliable: add images."),
            TINY(
                    Severity.WARN,
                    "Most of their pixels are interpolated when they are enlarged for a network: use the originals if"
                            + " available."),
            EXTREME_ASPECT(
                    Severity.WARN,
                    "Square crops contain little of them, resizing to a square distorts them: cut them into pieces."),
            SINGLE_COLOUR(Severity.WARN, "They carry no texture: remove them, unless the colour is the class."),
            LAYOUT(Severity.NOTE, "Everything else was read."),
            ENLARGED(Severity.NOTE, "They are enlarged for networks with an input of that size."),
            COLOUR_MODES(
                    Severity.NOTE,
                    "They are converted to RGB, transparency to white. Make sure that no class differs by the format"
                            + " alone."),
            TURNED(
                    Severity.NOTE,
                    "They are rotated upright; programs that ignore the EXIF orientation see them rotated."),
            WRONG_EXTENSION(
                    Severity.NOTE,
                    "The format is detected by content; programs that rely on the extension may fail on them.");

            private final Severity severity;
            private final String advice;

            Kind(Severity severity, String advice) {
                this.severity = severity;
                this.advice = advice;
            }
        }

        /** An image, a group of duplicates, or a class (without images); {@code remark} is a detail, as {@code 50×50}, or empty. */
        public record Item(String text, String remark, List<String> images) {
            @Override
            public String toString() {
                return remark.isEmpty() ? text : text + ": " + remark;
            }
        }
    }
}
