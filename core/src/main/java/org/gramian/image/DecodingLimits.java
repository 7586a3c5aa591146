package org.gramian.image;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.gramian.image.ImageReader.ImageLimits;

/**
 * Limits on the decoding of one file: sizes in its header, checked before memory is allocated for them, and time.
 *
 * @param cancelled whether the result is no longer wanted; called often, by the decoding thread
 */
record DecodingLimits(ImageFormat format, ImageLimits limits, long fileBytes, long end, BooleanSupplier cancelled) {
    /** Largest side: decoders take up to 0.3 µs for a row, however short it is. */
    static final int MAX_SIDE = 250_000;

    /** The last resort against a malicious file; no honest image within the limits takes this long. */
    private static final Duration MAX_TIME = Duration.ofMinutes(2);

    DecodingLimits(ImageFormat format, ImageLimits limits, long fileBytes, BooleanSupplier cancelled) {
        this(format, limits, fileBytes, System.nanoTime() + MAX_TIME.toNanos(), cancelled);
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
        if (Math.max(width, height) > MAX_SIDE) {
            throw UnreadableException.tooLarge("expected sides of at most " + MAX_SIDE + " pixels, found a " + format
                    + " of " + size(width, height));
        }
    }

    /** Rejects a file that is shorter than the best compression of its format allows for its pixels. */
    void checkLeastBytes(long width, long height, long least) throws UnreadableException {
        if (fileBytes < least) {
            throw UnreadableException.truncated("expected at least " + least + " bytes for a " + format + " of "
                    + size(width, height) + ", found " + fileBytes);
        }
    }

    private static String size(long width, long height) {
        return width + "×" + height + " pixels";
    }

    boolean isTimeOver() {
        return cancelled.getAsBoolean() || System.nanoTime() - end > 0;
    }

    UnreadableException timeExceeded() {
        return UnreadableException.tooLarge("expected a file that decodes within " + MAX_TIME.toSeconds()
                + " s and the time limit of its request, found one of " + fileBytes
                + " bytes that takes longer; it is damaged or malicious, or too large for this machine");
    }
}
