package org.gramian.image;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** Supported image formats, detected by the first bytes of a file. */
public enum ImageFormat {
    JPEG,
    PNG,
    GIF,
    BMP,
    TIFF,
    WEBP;

    /** Number of first bytes that identify a format. */
    public static final int MAGIC_BYTES = 18;

    /** Sizes of the second header of a BMP, one for each version. */
    private static final int[] BMP_HEADERS = {12, 40, 52, 56, 64, 108, 124};

    /** Detects the format by the first bytes of a file. */
    public static Optional<ImageFormat> of(byte[] content) {
        if (starts(content, 0, 0xff, 0xd8, 0xff)) {
            return Optional.of(JPEG);
        }
        if (starts(content, 0, 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n')) {
            return Optional.of(PNG);
        }
        if (starts(content, 0, "GIF87a") || starts(content, 0, "GIF89a")) {
            return Optional.of(GIF);
        }
        if (starts(content, 0, "RIFF") && starts(content, 8, "WEBP")) {
            return Optional.of(WEBP);
        }
        if (isTiff(content)) {
            return Optional.of(TIFF);
        }
        return isBmp(content) ? Optional.of(BMP) : Optional.empty();
    }

    /** Little- or big-endian, with 42 for TIFF or 43 for BigTIFF. */
    private static boolean isTiff(byte[] content) {
        return starts(content, 0, 'I', 'I', 42, 0)
                || starts(content, 0, 'M', 'M', 0, 42)
                || starts(content, 0, 'I', 'I', 43, 0)
                || starts(content, 0, 'M', 'M', 0, 43);
    }

    /** Checks the size of the header too: many texts begin with {@code BM}. */
    private static boolean isBmp(byte[] content) {
        return starts(content, 0, 'B', 'M')
                && Arrays.stream(BMP_HEADERS).anyMatch(size -> starts(content, 14, size, 0, 0, 0));
    }

    /** Returns whether the content has a text, in ISO 8859-1, at a position. */
    static boolean starts(byte[] content, int from, String text) {
        byte[] wanted = text.getBytes(StandardCharsets.ISO_8859_1);
        return content.length >= from + wanted.length
                && Arrays.equals(content, from, from + wanted.length, wanted, 0, wanted.length);
    }

    private static boolean starts(byte[] content, int from, int... wanted) {
        if (content.length < from + wanted.length) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (Byte.toUnsignedInt(content[from + i]) != wanted[i]) {
                return false;
            }
        }
        return true;
    }
}
