package org.gramian.image;

/** Checks the size in a header before memory is allocated for it. */
record SizeLimits(ImageFormat format, ImageLimits limits, long fileBytes) {
    /** @throws UnreadableException if there are no pixels or more than the limits allow */
    void checkSize(long width, long height) throws UnreadableException {
        if (width < 1 || height < 1) {
            throw UnreadableException.corrupt(
                    "expected a " + format + " with at least one pixel, found " + size(width, height));
        }
        if (width > limits.pixels() / height) {
            throw UnreadableException.tooLarge("expected at most " + limits.pixels() + " pixels, found a " + format
                    + " of " + size(width, height));
        }
    }

    /**
     * Rejects a file that is shorter than the best compression of its format allows.
     *
     * @param least smallest size in bytes of a file with this number of pixels
     */
    void checkLeastBytes(long width, long height, long least) throws UnreadableException {
        if (fileBytes < least) {
            throw UnreadableException.truncated("expected at least " + least + " bytes for a " + format + " of "
                    + size(width, height) + ", found " + fileBytes);
        }
    }

    private static String size(long width, long height) {
        return width + "×" + height + " pixels";
    }
}
