package org.gramian.image;

/**
 * Limits on files and images, against decompression bombs.
 *
 * <p>Decoding takes up to about 20 bytes per pixel besides the file: at most 8 for four channels of 16 bits, 3 for the result, 3
 * for a rotation, and the decoder's own.
 *
 * @param bytes most bytes of a file
 * @param pixels most pixels of an image, checked against the header before anything is decoded
 */
public record ImageLimits(long bytes, long pixels) {
    /** 256 MiB and 100 megapixels (300 MB decoded). */
    public static final ImageLimits DEFAULT = new ImageLimits(256L << 20, 100_000_000L);

    /** Largest Java array. */
    private static final long MAX_BYTES = Integer.MAX_VALUE - 8;

    public ImageLimits {
        if (bytes < 1 || bytes > MAX_BYTES || pixels < 1 || pixels > MAX_BYTES / 3) {
            throw new IllegalArgumentException("expected limits of 1 to " + MAX_BYTES + " bytes and 1 to "
                    + MAX_BYTES / 3 + " pixels, found " + bytes + " bytes and " + pixels + " pixels");
        }
    }
}
