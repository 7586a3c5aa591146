package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * One thing that the audit found, for people.
 *
 * @param severity how much it matters
 * @param kind what it is
 * @param sentence what was found, with figures
 * @param advice what it does to training and what to do about it
 * @param items every place where it was found
 */
public record Finding(Severity severity, Kind kind, String sentence, String advice, List<Item> items) {
    /** What a finding is about. */
    public enum Kind {
        UNREADABLE,
        TOO_THIN,
        TOO_FEW_CLASSES,
        TOO_FEW_PICTURES,
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

    /**
     * One place.
     *
     * @param text the image, the duplicates, or the class, for display
     * @param remark what about it, as {@code 50×50}; empty where there is no more to say
     * @param images the names of the images concerned; none where it is about a class
     */
    public record Item(
            String text,
            String remark,
            @JsonProperty("pictures") List<String> images) {
        public Item {
            images = List.copyOf(images);
        }

        /** A line for people. */
        @Override
        public String toString() {
            return remark.isEmpty() ? text : text + ": " + remark;
        }
    }

    public Finding {
        items = List.copyOf(items);
    }
}
