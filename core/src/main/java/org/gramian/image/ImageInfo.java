package org.gramian.image;

/**
 * What an image was in its file, before it became upright RGB.
 *
 * @param format the format that its content shows
 * @param colour the colour model in the file
 * @param bits bits of one channel in the file, or of an index into a palette
 * @param width columns in the file, before turning upright
 * @param height rows in the file, before turning upright
 * @param orientation EXIF orientation, 1 to 8; 1 is upright
 */
public record ImageInfo(ImageFormat format, Colour colour, int bits, int width, int height, int orientation) {
    /** Colour models of files. */
    public enum Colour {
        RGB,
        /** RGB with transparency; the image was composed over white. */
        RGB_ALPHA,
        GRAY,
        /** Gray with transparency; the image was composed over white. */
        GRAY_ALPHA,
        /** Indices into a table of colours, some of which may be transparent. */
        PALETTE,
        /** Inks of print, turned into RGB without a colour profile. */
        CMYK
    }
}
