package org.gramian.gallery;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.QuotedText;

/** Judges whether images are those of a gallery: a class for every label, one thumbnail and vector each, in order, not too many. */
final class GalleryChecks {
    /** No JPEG of 96 pixels a side takes as much. */
    private static final int THUMBNAIL_BYTES = 1 << 16;

    private GalleryChecks() {}

    static void require(Gallery.About about, List<Item> items, byte[][] thumbnails, short[][] vectors) {
        if (thumbnails.length != items.size() || vectors.length != items.size()) {
            throw new IllegalArgumentException("expected a thumbnail and a vector for each of " + items.size()
                    + " images, found " + thumbnails.length + " and " + vectors.length);
        }
        requireOrder(items);
        int length = CountSketch.lengthOf(about.descriptorSize());
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            if (item.label() < 0 || item.label() >= about.classes().size()) {
                throw new IllegalArgumentException(
                        "expected a label from 0 to " + (about.classes().size() - 1) + ", found " + item.label()
                                + " for " + QuotedText.text(item.name()));
            }
            requireThumbnail(item, thumbnails[i]);
            requireVector(item, vectors[i], length);
        }
    }

    private static void requireOrder(List<Item> items) {
        Map<Part, Integer> counts = new EnumMap<>(Part.class);
        for (int i = 0; i < items.size(); i++) {
            Part part = items.get(i).part();
            if (i > 0 && items.get(i - 1).part().compareTo(part) > 0) {
                throw new IllegalArgumentException("expected images in the order training, validation, test, found "
                        + QuotedText.text(items.get(i).name()) + " out of order");
            }
            if (counts.merge(part, 1, Integer::sum) > Gallery.MOST_OF_A_PART) {
                throw new IllegalArgumentException(
                        "expected at most " + Gallery.MOST_OF_A_PART + " images of " + part.words() + ", found more");
            }
        }
    }

    private static void requireThumbnail(Item item, byte[] jpeg) {
        boolean begins =
                jpeg.length > 3 && (jpeg[0] & 0xff) == 0xff && (jpeg[1] & 0xff) == 0xd8 && (jpeg[2] & 0xff) == 0xff;
        if (!begins || jpeg.length > THUMBNAIL_BYTES) {
            throw new IllegalArgumentException("expected a JPEG of at most " + THUMBNAIL_BYTES
                    + " bytes as the thumbnail of " + QuotedText.text(item.name()) + ", found " + jpeg.length + " bytes"
                    + (begins ? "" : " of another format"));
        }
    }

    private static void requireVector(Item item, short[] vector, int length) {
        if (vector.length != length) {
            throw new IllegalArgumentException("expected a vector of " + length + " numbers for "
                    + QuotedText.text(item.name()) + ", found " + vector.length);
        }
        for (short half : vector) {
            if (!Float.isFinite(Float.float16ToFloat(half))) {
                throw new IllegalArgumentException("expected finite numbers in the vector of "
                        + QuotedText.text(item.name()) + ", found " + Float.float16ToFloat(half));
            }
        }
    }
}
