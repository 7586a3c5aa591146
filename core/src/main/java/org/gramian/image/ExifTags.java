package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.gramian.image.FileHeader.Span;

/**
 * A few tags of the first directory of a TIFF file or of EXIF data, which has the same format. Everything else (thumbnails, maker
 * notes, further directories) is skipped. A value that is not a single integer is {@link Long#MAX_VALUE}.
 *
 * <p>Reference: TIFF 6.0, section 2.
 *
 * @param width columns, 0 if missing
 * @param height rows, 0 if missing
 * @param samplesPerPixel 1 if missing
 * @param orientation upright if missing or invalid
 */
record ExifTags(long width, long height, long samplesPerPixel, Orientation orientation) {
    private static final int DIRECTORY = 8;
    private static final int ENTRY_BYTES = 12;

    /** Bytes of a value of each type, by its code. */
    private static final int[] TYPE_BYTES = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};

    /**
     * Reads the tags; none of a damaged directory. The decoder rejects a damaged TIFF; damaged EXIF data does not affect pixels.
     *
     * @param tiff the TIFF data from its header on: the whole file, or its EXIF segment
     */
    static ExifTags of(byte[] content, Span tiff) {
        ByteBuffer bytes =
                ByteBuffer.wrap(content, tiff.from(), tiff.length()).slice().order(ByteOrder.BIG_ENDIAN);
        long width = 0;
        long height = 0;
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
                case 256 -> width = value;
                case 257 -> height = value;
                case 274 -> orientation = value;
                case 277 -> samples = Math.max(samples, value);
                default -> {}
            }
        }
        return new ExifTags(
                width,
                height,
                samples,
                orientation < 1 || orientation > 8 ? Orientation.UPRIGHT : Orientation.of((int) orientation));
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

    /** Returns columns and rows; {@link Integer#MAX_VALUE} if invalid. */
    FileHeader.Size size() {
        return new FileHeader.Size((int) Math.min(width, Integer.MAX_VALUE), (int) Math.min(height, Integer.MAX_VALUE));
    }
}
