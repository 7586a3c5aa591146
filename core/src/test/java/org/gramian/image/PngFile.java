package org.gramian.image;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Writes PNG files of every kind, honest or not, chunk by chunk. */
final class PngFile {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private PngFile() {
        bytes.writeBytes(new byte[] {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
    }

    /** @param type 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGB with alpha */
    static PngFile of(int width, int height, int bits, int type) {
        byte[] header = ByteBuffer.allocate(13)
                .putInt(width)
                .putInt(height)
                .put((byte) bits)
                .put((byte) type)
                .array();
        return new PngFile().chunk("IHDR", header);
    }

    PngFile chunk(String name, byte... data) {
        byte[] named = ByteBuffer.allocate(4 + data.length)
                .put(name.getBytes(StandardCharsets.US_ASCII))
                .put(data)
                .array();
        CRC32 checksum = new CRC32();
        checksum.update(named);
        bytes.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        bytes.writeBytes(named);
        bytes.writeBytes(
                ByteBuffer.allocate(4).putInt((int) checksum.getValue()).array());
        return this;
    }

    /** Rows of bytes, without filters, and the end of the file. */
    byte[] rows(byte[]... rows) {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        for (byte[] row : rows) {
            raw.write(0);
            raw.writeBytes(row);
        }
        return chunk("IDAT", deflated(raw.toByteArray())).chunk("IEND").content();
    }

    byte[] content() {
        return bytes.toByteArray();
    }

    static byte[] deflated(byte[] raw) {
        Deflater deflater = new Deflater();
        try {
            deflater.setInput(raw);
            deflater.finish();
            byte[] packed = new byte[raw.length + 100];
            return Arrays.copyOf(packed, deflater.deflate(packed));
        } finally {
            deflater.end();
        }
    }
}
