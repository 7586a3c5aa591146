package org.gramian.image;

/**
 * The largest files and images that are opened, as a guard against files that unpack to gigabytes.
 *
 * <p>While one image is decoded, up to about 20 bytes per pixel are held beside the content of the file: at most 8 as the
 * file has them (four channels of 16 bits), 3 of the result, 3 more if it is turned, and what the decoder keeps.
 *
 * @param bytes most bytes of a file
 * @param pixels most pixels of an image, checked against the header before anything is decoded
 */
public record ImageLimits(long bytes, long pixels) {
    /** 256 MiB and 100 megapixels (300 MB decoded): above every camera in common use, below what hurts. */
    public static final ImageLimits DEFAULT = new ImageLimits(256L << 20, 100_000_000L);

    /** What one Java array can hold. */
    private static final long MOST_BYTES = Integer.MAX_VALUE - 8;

    public ImageLimits {
        if (bytes < 1 || bytes > MOST_BYTES || pixels < 1 || pixels > MOST_BYTES / 3) {
            throw new IllegalArgumentException("expected limits of 1 to " + MOST_BYTES + " bytes and 1 to "
                    + MOST_BYTES / 3 + " pixels, found " + bytes + " bytes and " + pixels + " pixels");
        }
    }
}
