package org.gramian.image;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.gramian.image.ImageInfo.Colour;

/**
 * A file with a checked header.
 *
 * @param kind colours of the file, if the decoded image does not show them
 */
@SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
record FileHeader(byte[] content, Optional<Span> exif, Optional<Kind> kind, boolean complete) {
    record Kind(ImageInfo.Colour colour, int bits) {}

    static FileHeader of(byte[] content) {
        return new FileHeader(content, Optional.empty(), Optional.empty(), false);
    }

    Orientation orientation() {
        return Orientation.of(content, exif);
    }

    /** A range of a file's content, {@code to} exclusive. */
    record Span(int from, int to) {
        int length() {
            return to - from;
        }

        /** Returns the range without the prefix {@code Exif\0\0} of some formats. */
        Span withoutExifPrefix(byte[] content) {
            return begins(content, "Exif\0\0") ? new Span(from + 6, to) : this;
        }

        boolean begins(byte[] content, String text) {
            return length() >= text.length() && ImageFormat.starts(content, from, text);
        }
    }

    /** Reads colours and EXIF position of a PNG. */
    static final class PngHeader {
        /** Signature, and the header chunk with its length, name and checksum. */
        private static final int HEADER_END = 8 + 4 + 4 + 13 + 4;

        private static final int HEADER = 0x49484452;
        private static final int EXIF = 0x65584966;
        private static final int TRANSPARENCY = 0x74524e53;

        /** Deflate codes at best 258 bytes in two bits. */
        private static final int BEST_COMPRESSION = 1032;

        static FileHeader prepare(byte[] content, DecodingLimits bounds) throws UnreadableException {
            if (content.length < HEADER_END) {
                throw UnreadableException.truncated(
                        "expected a PNG with a header of " + HEADER_END + " bytes, found " + content.length + " bytes");
            }
            ByteBuffer bytes = ByteBuffer.wrap(content);
            if (bytes.getInt(12) != HEADER) {
                throw UnreadableException.corrupt("expected a PNG whose first chunk is IHDR, found another");
            }
            long width = Integer.toUnsignedLong(bytes.getInt(16));
            long height = Integer.toUnsignedLong(bytes.getInt(20));
            bounds.checkSize(width, height);
            int bits = bytes.get(24);
            int type = bytes.get(25);
            bounds.checkLeastBytes(width, height, width * height * bits * channels(type) / 8 / BEST_COMPRESSION);
            boolean transparent = chunk(bytes, TRANSPARENCY).isPresent();
            Kind kind = new Kind(colour(type, transparent), bits);
            return new FileHeader(content, chunk(bytes, EXIF), Optional.of(kind), false);
        }

        private static int channels(int type) throws UnreadableException {
            return switch (type) {
                case 0, 3 -> 1;
                case 4 -> 2;
                case 2 -> 3;
                case 6 -> 4;
                default ->
                    throw UnreadableException.corrupt("expected a PNG of colour type 0, 2, 3, 4 or 6, found " + type);
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

        /** Returns the data of the first chunk of a name; damage is left to the decoder. */
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

    /**
     * Counts the clear codes in the data of the first frame of a GIF. Java's decoder resets 4,096 entries for each, in about 2 µs, and
     * an encoder needs one where its table is full. Encoders that avoided a patent wrote one for every 2 to 254 pixels.
     */
    static final class GifHeader {
        private static final int SCREEN_END = 13;
        private static final int EXTENSION = 0x21;
        private static final int FRAME = 0x2c;
        private static final int FREE_CLEARS = 50_000;
        private static final int PIXELS_PER_CLEAR = 64;
        private static final int MAX_CODE_BITS = 12;

        private final ByteBuffer bytes;
        private int blockEnd;
        private int buffered;
        private int bits;

        private GifHeader(byte[] content) {
            bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        }

        static FileHeader prepare(byte[] content) throws UnreadableException {
            try {
                new GifHeader(content).checkClearCodes();
            } catch (BufferUnderflowException | IllegalArgumentException _) {
                // truncated data are left to the decoder
            }
            return FileHeader.of(content);
        }

        private void checkClearCodes() throws UnreadableException {
            bytes.position(SCREEN_END + tableBytes(bytes.get(10)));
            int kind = bytes.get();
            for (; kind == EXTENSION; kind = bytes.get()) {
                bytes.get();
                for (int length = next(); length > 0; length = next()) {
                    skip(length);
                }
            }
            if (kind != FRAME) {
                return;
            }
            skip(4);
            long pixels = (bytes.getShort() & 0xffffL) * (bytes.getShort() & 0xffff);
            skip(tableBytes(bytes.get()));
            int start = next();
            if (start < 1 || start > 8) {
                return;
            }
            long clears = FREE_CLEARS + pixels / PIXELS_PER_CLEAR;
            bytes.limit((int) Math.min(bytes.limit(), bytes.position() + Decoder.maxPixelBytes(pixels)));
            int clear = 1 << start;
            int codeBits = start + 1;
            int entries = clear + 1; // the first code after a clear code adds none
            for (int code = code(codeBits); code != clear + 1; code = code(codeBits)) {
                if (code == clear) {
                    clears--;
                    codeBits = start + 1;
                    entries = clear + 1;
                } else if (entries < 1 << MAX_CODE_BITS) {
                    entries++;
                    codeBits += entries == 1 << codeBits && codeBits < MAX_CODE_BITS ? 1 : 0;
                }
                if (clears < 0) {
                    throw UnreadableException.tooLarge("expected a GIF with at most " + FREE_CLEARS + " clear codes and"
                            + " one for " + PIXELS_PER_CLEAR + " pixels, found more for " + pixels
                            + " pixels; save it as PNG");
                }
            }
        }

        private static int tableBytes(int flags) {
            return (flags & 0x80) == 0 ? 0 : 3 << ((flags & 7) + 1);
        }

        private int next() {
            return bytes.get() & 0xff;
        }

        private void skip(int count) {
            bytes.position(bytes.position() + count);
        }

        private int code(int size) {
            while (bits < size) {
                if (bytes.position() == blockEnd || blockEnd == 0) {
                    int length = next();
                    if (length == 0) {
                        throw new BufferUnderflowException();
                    }
                    blockEnd = bytes.position() + length;
                }
                buffered |= next() << bits;
                bits += 8;
            }
            int code = buffered & (1 << size) - 1;
            buffered >>>= size;
            bits -= size;
            return code;
        }
    }

    /** Checks that all pixels of a BMP are present. */
    static final class BmpHeader {
        /** Headers of version 4 and 5, which may name a colour profile. */
        private static final int VERSION_4 = 108;

        private static final int OLD_HEADER = 12;
        private static final int COLOUR_SPACE = 70;
        private static final int SRGB = 0x73524742;

        static FileHeader prepare(byte[] content, DecodingLimits bounds) throws UnreadableException {
            ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
            int header = bytes.getInt(14);
            if (content.length < 14 + header) {
                throw UnreadableException.truncated("expected a BMP with a header of " + (14 + header)
                        + " bytes, found " + content.length + " bytes");
            }
            boolean old = header == OLD_HEADER;
            long width = old ? bytes.getShort(18) & 0xffff : bytes.getInt(18);
            long height = old ? bytes.getShort(20) & 0xffff : Math.abs((long) bytes.getInt(22));
            bounds.checkSize(width, height);
            long stride = (width * (bytes.getShort(old ? 24 : 28) & 0xffff) + 31) / 32 * 4;
            long dataFrom = Integer.toUnsignedLong(bytes.getInt(10));
            switch (old ? 0 : bytes.getInt(30)) {
                case 0, 3, 6 -> bounds.checkLeastBytes(width, height, dataFrom + stride * height);
                // Run-length encoding: the decoder allocates the size given in the header.
                case 1, 2 -> {
                    long declared = Integer.toUnsignedLong(bytes.getInt(34));
                    long whole = Integer.toUnsignedLong(bytes.getInt(2));
                    bounds.checkLeastBytes(width, height, declared == 0 ? whole : dataFrom + declared);
                }
                default ->
                    throw UnreadableException.unknownFormat(
                            "expected a BMP without compression or with run lengths (0 to 3 or 6), found compression "
                                    + bytes.getInt(30));
            }
            return FileHeader.of(header >= VERSION_4 ? withoutProfile(content) : content);
        }

        /** Removes the colour profile, which may be the name of another file. */
        private static byte[] withoutProfile(byte[] content) {
            byte[] copy = content.clone();
            ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(COLOUR_SPACE, SRGB);
            return copy;
        }
    }

    /** Checks the first directory of a TIFF for sizes that its decoder would allocate. */
    static final class TiffHeader {
        /** Supported images have at most five: CMYK and alpha. */
        private static final int MAX_SAMPLES = 64;

        private static final int BIG = 43;

        static FileHeader prepare(byte[] content) throws UnreadableException {
            if (content[2] == BIG || content[3] == BIG) {
                throw UnreadableException.unknownFormat(
                        "expected a TIFF, found a BigTIFF, which is for files of more than 4 GiB; save it as TIFF");
            }
            Span whole = new Span(0, content.length);
            long samples = Orientation.ExifTags.of(content, whole).samplesPerPixel();
            if (samples > MAX_SAMPLES) {
                throw UnreadableException.corrupt(
                        "expected a TIFF of at most " + MAX_SAMPLES + " samples per pixel, found " + samples);
            }
            return new FileHeader(content, Optional.of(whole), Optional.empty(), false);
        }
    }
}
