package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import org.gramian.image.FileHeader.Span;

/**
 * EXIF orientations, named by the transform of the upright image when it was stored. A stored pixel of column {@code u} and row {@code v}
 * in a {@code w×h} image is the upright pixel {@code (x, y)} with
 *
 * <pre>
 * 1  u = x          v = y            5  u = y          v = x
 * 2  u = w−1−x      v = y            6  u = y          v = h−1−x
 * 3  u = w−1−x      v = h−1−y        7  u = w−1−y      v = h−1−x
 * 4  u = x          v = h−1−y        8  u = w−1−y      v = x
 * </pre>
 *
 * <p>Reference: CIPA DC-008 (Exif 2.32), tag 274, Orientation.
 */
enum Orientation {
    UPRIGHT(1, false, false),
    MIRRORED(2, true, false),
    UPSIDE_DOWN(3, true, true),
    MIRRORED_UPSIDE_DOWN(4, false, true),
    TRANSPOSED(5, false, false),
    TURNED_LEFT(6, false, true),
    TRANSVERSED(7, true, true),
    TURNED_RIGHT(8, true, false);

    private final int number;
    private final boolean fromLastColumn;
    private final boolean fromLastRow;

    Orientation(int number, boolean fromLastColumn, boolean fromLastRow) {
        this.number = number;
        this.fromLastColumn = fromLastColumn;
        this.fromLastRow = fromLastRow;
    }

    int number() {
        return number;
    }

    /** Returns the orientation of EXIF data; upright without them. */
    static Orientation of(byte[] content, Optional<Span> exif) {
        return exif.map(span -> ExifTags.of(content, span).orientation).orElse(UPRIGHT);
    }

    /** Transforms an image stored in this orientation to upright; returns an upright image itself. */
    Image upright(Image stored) {
        if (this == UPRIGHT) {
            return stored;
        }
        boolean swapsSides = number >= TRANSPOSED.number;
        int storedWidth = stored.width();
        int alongRow = fromLastColumn ? -1 : 1;
        int alongColumn = fromLastRow ? -storedWidth : storedWidth;
        int start = (fromLastColumn ? storedWidth - 1 : 0) + (fromLastRow ? (stored.height() - 1) * storedWidth : 0);
        int width = swapsSides ? stored.height() : storedWidth;
        int height = swapsSides ? storedWidth : stored.height();
        int right = 3 * (swapsSides ? alongColumn : alongRow);
        int down = swapsSides ? alongRow : alongColumn;
        byte[] from = stored.rgb();
        byte[] to = new byte[from.length];
        int target = 0;
        for (int y = 0; y < height; y++) {
            int source = 3 * (start + y * down);
            for (int x = 0; x < width; x++) {
                to[target++] = from[source];
                to[target++] = from[source + 1];
                to[target++] = from[source + 2];
                source += right;
            }
        }
        return new Image(width, height, to);
    }

    /**
     * A few tags of the first directory of a TIFF file or of EXIF data, which has the same format. Everything else (thumbnails, maker
     * notes, further directories) is skipped. A value that is not a single integer is {@link Long#MAX_VALUE}.
     *
     * <p>Reference: TIFF 6.0, section 2.
     *
     * @param samplesPerPixel 1 if missing
     * @param orientation upright if missing or invalid
     */
    record ExifTags(long samplesPerPixel, Orientation orientation) {
        private static final int DIRECTORY = 8;
        private static final int ENTRY_BYTES = 12;

        /** Bytes of a value of each type, by its code. */
        private static final int[] TYPE_BYTES = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};

        /** Reads the tags; none of a damaged directory. The decoder rejects a damaged TIFF; damaged EXIF data does not affect pixels. */
        static ExifTags of(byte[] content, Span tiff) {
            ByteBuffer bytes =
                    ByteBuffer.wrap(content, tiff.from(), tiff.length()).slice().order(ByteOrder.BIG_ENDIAN);
            long samples = 1;
            long orientation = 1;
            if (bytes.limit() >= DIRECTORY && bytes.get(0) == 'I') {
                bytes.order(ByteOrder.LITTLE_ENDIAN);
            }
            int start = bytes.limit() < DIRECTORY + 2 ? -1 : bytes.getInt(4);
            int count = start < 0 || start > bytes.limit() - 2 ? 0 : bytes.getShort(start) & 0xffff;
            int end = start + 2 + count * ENTRY_BYTES;
            for (int at = start + 2; end <= bytes.limit() && at < end; at += ENTRY_BYTES) {
                long value = value(bytes, at);
                switch (bytes.getShort(at) & 0xffff) {
                    case 274 -> orientation = value;
                    case 277 -> samples = Math.max(samples, value);
                    default -> {}
                }
            }
            long exif = orientation;
            return new ExifTags(
                    samples,
                    Arrays.stream(values())
                            .filter(known -> known.number == exif)
                            .findFirst()
                            .orElse(UPRIGHT));
        }

        private static long value(ByteBuffer bytes, int entry) {
            int type = bytes.getShort(entry + 2) & 0xffff;
            int size = type < TYPE_BYTES.length ? TYPE_BYTES[type] : 0;
            if (bytes.getInt(entry + 4) != 1) {
                return Long.MAX_VALUE;
            }
            return switch (size) {
                case 1 -> bytes.get(entry + 8) & 0xff;
                case 2 -> bytes.getShort(entry + 8) & 0xffff;
                case 4 -> Integer.toUnsignedLong(bytes.getInt(entry + 8));
                default -> Long.MAX_VALUE;
            };
        }
    }
}
