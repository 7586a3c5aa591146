package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.gramian.image.ReadResult.Problem;

/** Looks at the header of a BMP: its size, and that the pixels it promises are there. */
final class BmpHeader {
    /** Headers of version 4 and 5, which may name a colour profile. */
    private static final int VERSION_4 = 108;

    private static final int OLD_HEADER = 12;
    private static final int COLOUR_SPACE = 70;
    private static final int SRGB = 0x73524742;

    private BmpHeader() {}

    static Prepared prepare(byte[] content, Bounds bounds) throws UnreadableException {
        ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        int header = bytes.getInt(14);
        if (content.length < 14 + header) {
            throw new UnreadableException(
                    Problem.TRUNCATED,
                    "expected a BMP with a header of " + (14 + header) + " bytes, found " + content.length + " bytes");
        }
        boolean old = header == OLD_HEADER;
        long width = old ? bytes.getShort(18) & 0xffff : bytes.getInt(18);
        long height = old ? bytes.getShort(20) & 0xffff : Math.abs((long) bytes.getInt(22));
        bounds.checkSize(width, height);
        long stride = (width * (bytes.getShort(old ? 24 : 28) & 0xffff) + 31) / 32 * 4;
        long dataFrom = Integer.toUnsignedLong(bytes.getInt(10));
        switch (old ? 0 : bytes.getInt(30)) {
            case 0, 3, 6 -> bounds.checkLeastBytes(width, height, dataFrom + stride * height);
            // Run lengths: the decoder sets aside what the header says that they take.
            case 1, 2 -> {
                long said = Integer.toUnsignedLong(bytes.getInt(34));
                long whole = Integer.toUnsignedLong(bytes.getInt(2));
                bounds.checkLeastBytes(width, height, said == 0 ? whole : dataFrom + said);
            }
            default ->
                throw new UnreadableException(
                        Problem.UNKNOWN_FORMAT,
                        "expected a BMP without compression or with run lengths (0 to 3 or 6), found compression "
                                + bytes.getInt(30));
        }
        return Prepared.of(header >= VERSION_4 ? withoutProfile(content) : content);
    }

    /** Profiles are ignored, and one that is the name of another file is not followed. */
    private static byte[] withoutProfile(byte[] content) {
        byte[] copy = content.clone();
        ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(COLOUR_SPACE, SRGB);
        return copy;
    }
}
