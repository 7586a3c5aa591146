package org.gramian.image;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;

/** Looks at the chunks of a PNG: size, colours, EXIF. */
final class PngHeader {
    /** Signature, and the header chunk with its length, name and checksum. */
    private static final int HEADER_END = 8 + 4 + 4 + 13 + 4;

    private static final int HEADER = 0x49484452;
    private static final int EXIF = 0x65584966;
    private static final int TRANSPARENCY = 0x74524e53;

    /** Deflate codes at best 258 bytes in two bits. */
    private static final int BEST_COMPRESSION = 1032;

    private PngHeader() {}

    static Prepared prepare(byte[] content, Bounds bounds) throws UnreadableException {
        if (content.length < HEADER_END) {
            throw new UnreadableException(
                    Problem.TRUNCATED,
                    "expected a PNG with a header of " + HEADER_END + " bytes, found " + content.length + " bytes");
        }
        ByteBuffer bytes = ByteBuffer.wrap(content);
        if (bytes.getInt(12) != HEADER) {
            throw new UnreadableException(Problem.CORRUPT, "expected a PNG whose first chunk is IHDR, found another");
        }
        long width = Integer.toUnsignedLong(bytes.getInt(16));
        long height = Integer.toUnsignedLong(bytes.getInt(20));
        int bits = bytes.get(24);
        int type = bytes.get(25);
        bounds.checkSize(width, height);
        long bitsPerPixel = (long) bits * channels(type);
        bounds.checkLeastBytes(width, height, width * height * bitsPerPixel / 8 / BEST_COMPRESSION);
        boolean transparent = chunk(bytes, TRANSPARENCY).isPresent();
        Prepared.Kind kind = new Prepared.Kind(colour(type, transparent), bits);
        return new Prepared(content, chunk(bytes, EXIF), Optional.of(kind), false);
    }

    private static int channels(int type) throws UnreadableException {
        return switch (type) {
            case 0, 3 -> 1;
            case 4 -> 2;
            case 2 -> 3;
            case 6 -> 4;
            default ->
                throw new UnreadableException(
                        Problem.CORRUPT, "expected a PNG of colour type 0, 2, 3, 4 or 6, found " + type);
        };
    }

    private static Colour colour(int type, boolean transparent) {
        return switch (type) {
            case 0 -> transparent ? Colour.GRAY_ALPHA : Colour.GRAY;
            case 2 -> transparent ? Colour.RGB_ALPHA : Colour.RGB;
            case 3 -> Colour.PALETTE;
            case 4 -> Colour.GRAY_ALPHA;
            default -> Colour.RGB_ALPHA;
        };
    }

    /** The data of the first chunk of a name; damage on the way is left to the decoder. */
    private static Optional<Span> chunk(ByteBuffer bytes, int name) {
        int position = HEADER_END;
        while (position <= bytes.limit() - 8) {
            int length = bytes.getInt(position);
            if (length < 0 || length > bytes.limit() - position - 8) {
                return Optional.empty();
            }
            if (bytes.getInt(position + 4) == name) {
                return Optional.of(new Span(position + 8, position + 8 + length));
            }
            position += (int) Math.min(length + 12L, bytes.limit() - position);
        }
        return Optional.empty();
    }
}
