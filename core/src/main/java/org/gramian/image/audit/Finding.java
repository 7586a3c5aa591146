package org.gramian.image.audit;

import java.util.List;
import java.util.Locale;

/**
 * A problem that the audit found.
 *
 * @param sentence what was found, with figures
 * @param advice the effect on training and what to do about it
 * @param items the images or classes concerned
 */
public record Finding(Severity severity, Kind kind, String sentence, String advice, List<Item> items) {
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

    public enum Kind {
        UNREADABLE,
        TOO_THIN,
        TOO_FEW_CLASSES,
        TOO_FEW_IMAGES,
        CLASS_MISSING_FROM_SPLIT,
        COPIES_ACROSS_CLASSES,
        COPIES_ACROSS_SPLITS,
        NEAR_COPIES_ACROSS_CLASSES,
        NEAR_COPIES_ACROSS_SPLITS,
        COPIES,
        NEAR_COPIES,
        IMBALANCE,
        SMALL_CLASSES,
        TINY,
        EXTREME_ASPECT,
        SINGLE_COLOUR,
        LAYOUT,
        ENLARGED,
        COLOUR_MODES,
        TURNED,
        WRONG_EXTENSION
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

    /** Returns the verb's form for a number. */
    static String verb(int number, String singular, String plural) {
        return number == 1 ? singular : plural;
    }
}
