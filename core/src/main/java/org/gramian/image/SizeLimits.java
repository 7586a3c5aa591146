package org.gramian.image;

import org.gramian.image.ReadResult.Problem;

/** Checks sizes that a header claims, before memory is set aside for them. */
record SizeLimits(ImageFormat format, ImageLimits limits, long fileBytes) {
    /** @throws UnreadableException if there are no pixels or more than the limits allow */
    void checkSize(long width, long height) throws UnreadableException {
        if (width < 1 || height < 1) {
            throw new UnreadableException(
                    Problem.CORRUPT, "expected a " + format + " with at least one pixel, found " + size(width, height));
        }
        if (width > limits.pixels() / height) {
            throw new UnreadableException(
                    Problem.TOO_LARGE,
                    "expected at most " + limits.pixels() + " pixels, found a " + format + " of "
                            + size(width, height));
        }
    }

    /**
     * Refuses a file that is shorter than the best compression of its format could make it.
     *
     * @param least fewest bytes that any file with so many pixels has
     */
    void checkLeastBytes(long width, long height, long least) throws UnreadableException {
        if (fileBytes < least) {
            throw new UnreadableException(
                    Problem.TRUNCATED,
                    "expected at least " + least + " bytes for a " + format + " of " + size(width, height) + ", found "
                            + fileBytes);
        }
    }

    private static String size(long width, long height) {
        return width + "×" + height + " pixels";
    }
}
