package org.gramian.image;

import java.util.Optional;

/**
 * A file whose header was looked at and found to be one that a decoder may see.
 *
 * @param content what the decoder reads: the file, or a copy in which a colour profile is hidden
 * @param exif where EXIF data lies, if there is any
 * @param kind the colours of the file, where the decoder's own image of them would not tell
 * @param complete whether the file is known to go on to the end of the image
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record Prepared(byte[] content, Optional<Span> exif, Optional<Kind> kind, boolean complete) {
    /** Colour model of a file, and bits of one channel. */
    record Kind(ImageInfo.Colour colour, int bits) {}

    static Prepared of(byte[] content) {
        return new Prepared(content, Optional.empty(), Optional.empty(), false);
    }

    static Prepared withExif(byte[] content, Span exif) {
        return new Prepared(content, Optional.of(exif), Optional.empty(), false);
    }

    /** The orientation that EXIF data tells; upright without it. */
    Orientation orientation() {
        return exif.map(span -> ExifTags.of(content, span).orientation()).orElse(Orientation.UPRIGHT);
    }
}
