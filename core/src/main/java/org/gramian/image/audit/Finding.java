package org.gramian.image.audit;

import java.util.List;
import java.util.Locale;

/** A problem that the audit found. */
public record Finding(Severity severity, Kind kind, String sentence, String advice, List<Item> items) {
    /** Creates a finding of the usual severity and with the usual advice of its kind. */
    Finding(Kind kind, String sentence, List<Item> items) {
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
                Severity.SPOILS, "One of the labels is wrong, or an image shows both classes: keep one copy, or none."),
        COPIES_ACROSS_SPLITS(
                Severity.SPOILS, "Test images were seen in training, so the accuracy is too high: keep one copy."),
        NEAR_COPIES_ACROSS_CLASSES(Severity.WARN, "Check them: one of the labels may be wrong."),
        NEAR_COPIES_ACROSS_SPLITS(
                Severity.WARN, "Check them: test images that resemble training images make the accuracy too high."),
        COPIES(Severity.WARN, "They count more than other images. Training keeps them on one side of a random split."),
        NEAR_COPIES(
                Severity.WARN, "Training keeps them on one side of a random split, unless --near-duplicates ignore."),
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
        TURNED(Severity.NOTE, "They are rotated upright; programs that ignore the EXIF orientation see them rotated."),
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
