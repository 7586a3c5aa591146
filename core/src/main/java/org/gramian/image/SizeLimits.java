package org.gramian.image;

/**
 * Checks the size in a header before memory is allocated for it.
 *
 * @param fileBytes size of the file
 * @param time when to stop decoding
 */
record SizeLimits(ImageFormat format, ImageLimits limits, long fileBytes, TimeLimit time) {
    /** Most pixels of a side: decoders take up to 0.3 µs for a row, however short it is. */
    static final int MOST_SIDE = 250_000;

    SizeLimits(ImageFormat format, ImageLimits limits, long fileBytes) {
        this(format, limits, fileBytes, TimeLimit.start(() -> false));
    }

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
        if (Math.max(width, height) > MOST_SIDE) {
            throw UnreadableException.tooLarge("expected sides of at most " + MOST_SIDE + " pixels, found a " + format
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
