package org.gramian.image.audit;

import java.util.List;
import org.gramian.image.audit.AuditReport.AuditedImage;

/**
 * Images that are duplicates or near-duplicates of each other.
 *
 * @param kind how similar they are
 * @param images two or more, in the order of the dataset
 * @param acrossClasses whether they have more than one label
 * @param acrossSplits the names of the given splits that put them on different sides
 * @param difference the largest relative difference of the pairs that joined the group, not of all its pairs; 0 for equal
 *     pixels
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

    public DuplicateGroup {
        images = List.copyOf(images);
        acrossSplits = List.copyOf(acrossSplits);
    }

    /** Whether the pixels are equal. */
    public boolean exact() {
        return kind != Kind.NEAR;
    }
}
