package org.gramian.image;

/**
 * Properties of an image file, before conversion to upright RGB.
 *
 * @param bits bits of a channel, or of an index into a palette
 * @param width columns in the file, before rotation
 * @param height rows in the file, before rotation
 * @param orientation EXIF orientation, 1 to 8; 1 is upright
 * @since 0.1
 */
public record ImageInfo(ImageFormat format, Colour colour, int bits, int width, int height, int orientation) {
    /** Colour models of files. */
    public enum Colour {
        RGB,
        /** RGB with alpha; composed over white. */
        RGB_ALPHA,
        GRAY,
        /** Gray with alpha; composed over white. */
        GRAY_ALPHA,
        /** Indexes into a table of colours, which may be transparent. */
        PALETTE,
        /** Converted to RGB without a colour profile. */
        CMYK
    }
}
