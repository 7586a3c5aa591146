package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Puts segments into JPEG files. */
final class JpegFile {
    private static final byte[] EXIF = "Exif\0\0".getBytes(StandardCharsets.US_ASCII);

    private JpegFile() {}

    /** The file with one more segment behind its first two bytes. */
    static byte[] with(byte[] jpeg, int marker, byte[] body) {
        return ByteBuffer.allocate(jpeg.length + 4 + body.length)
                .put(jpeg, 0, 2)
                .put((byte) 0xff)
                .put((byte) marker)
                .putShort((short) (2 + body.length))
                .put(body)
                .put(jpeg, 2, jpeg.length - 2)
                .array();
    }

    /** The file without its JFIF segment, which the JDK writes first, if it writes one. */
    static byte[] withoutJfif(byte[] jpeg) {
        if (jpeg[3] != (byte) 0xe0) {
            return jpeg;
        }
        int length = ByteBuffer.wrap(jpeg).getShort(4);
        return ByteBuffer.allocate(jpeg.length - 2 - length)
                .put(jpeg, 0, 2)
                .put(jpeg, 4 + length, jpeg.length - 4 - length)
                .array();
    }

    /** @param transform 0 for RGB or CMYK, 1 for YCbCr, 2 for YCCK */
    static byte[] withAdobe(byte[] jpeg, int transform) {
        byte[] body = ByteBuffer.allocate(12)
                .put("Adobe".getBytes(StandardCharsets.US_ASCII))
                .putShort((short) 100)
                .putInt(0)
                .put((byte) transform)
                .array();
        return with(jpeg, 0xee, body);
    }

    static byte[] withOrientation(byte[] jpeg, int orientation, ByteOrder order) {
        byte[] tiff = orientation(orientation, order);
        return with(
                jpeg,
                0xe1,
                ByteBuffer.allocate(EXIF.length + tiff.length)
                        .put(EXIF)
                        .put(tiff)
                        .array());
    }

    /** A TIFF file of one directory with one tag. */
    static byte[] orientation(int orientation, ByteOrder order) {
        return ByteBuffer.allocate(26)
                .order(order)
                .put((byte) (order == ByteOrder.LITTLE_ENDIAN ? 'I' : 'M'))
                .put((byte) (order == ByteOrder.LITTLE_ENDIAN ? 'I' : 'M'))
                .putShort((short) 42)
                .putInt(8)
                .putShort((short) 1)
                .putShort((short) 0x112)
                .putShort((short) 3)
                .putInt(1)
                .putShort((short) orientation)
                .putShort((short) 0)
                .putInt(0)
                .array();
    }

    /** Where the first marker of a kind is. */
    static int find(byte[] jpeg, int marker) {
        for (int i = 2; i < jpeg.length - 1; i++) {
            if (jpeg[i] == (byte) 0xff && jpeg[i + 1] == (byte) marker) {
                return i;
            }
        }
        throw new AssertionError("no marker " + Integer.toHexString(marker));
    }
}
