package org.gramian.image;

import org.gramian.image.ReadResult.Problem;

/** Looks at the first directory of a TIFF, for claims that its decoder would set memory aside for. */
final class TiffHeader {
    /** More than any image that is read has: five, for four inks and transparency. */
    private static final int MOST_SAMPLES = 64;

    /** The version that BigTIFF has in place of 42. */
    private static final int BIG = 43;

    private TiffHeader() {}

    static Prepared prepare(byte[] content) throws UnreadableException {
        if (content[2] == BIG || content[3] == BIG) {
            throw new UnreadableException(
                    Problem.UNKNOWN_FORMAT,
                    "expected a TIFF, found a BigTIFF, which is for files of more than 4 GiB; save it as TIFF");
        }
        Span whole = new Span(0, content.length);
        long samples = ExifTags.of(content, whole).samplesPerPixel();
        if (samples > MOST_SAMPLES) {
            throw new UnreadableException(
                    Problem.CORRUPT,
                    "expected a TIFF of at most " + MOST_SAMPLES + " samples per pixel, found " + samples);
        }
        return Prepared.withExif(content, whole);
    }
}
