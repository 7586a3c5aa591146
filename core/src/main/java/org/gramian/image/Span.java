package org.gramian.image;

/** A part of a file's content: from the first byte to before the last. */
record Span(int from, int to) {
    /** The same without the text {@code Exif} and two zeros that introduce EXIF data in some formats. */
    Span withoutExifPrefix(byte[] content) {
        boolean prefixed = to - from >= 6
                && content[from] == 'E'
                && content[from + 1] == 'x'
                && content[from + 2] == 'i'
                && content[from + 3] == 'f'
                && content[from + 4] == 0
                && content[from + 5] == 0;
        return prefixed ? new Span(from + 6, to) : this;
    }
}
