package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import org.gramian.image.FileHeader.Size;
import org.gramian.image.FileHeader.Span;

/** Parses the chunks of a WebP and checks that they are complete and that all sizes agree. */
final class WebpHeader {
    private static final int EXTENDED = 0x58385056;
    private static final int LOSSY = 0x20385056;
    private static final int LOSSLESS = 0x4c385056;
    private static final int FRAME = 0x464d4e41;
    private static final int EXIF = 0x46495845;
    private static final int ALPHA = 0x48504c41;

    /** Position of the flags of an extended file, and the flag of a colour profile. */
    private static final int FLAGS = 20;

    private static final int PROFILE_FLAG = 0x20;

    /** Bytes that the lossless decoder may read past the end. */
    static final int READ_AHEAD = 16;

    private static final int CHUNK_HEADER = 8;
    private static final int FILE_HEADER = 12;

    private final byte[] content;
    private final ByteBuffer bytes;
    private final SizeLimits bounds;
    private Optional<Span> exif = Optional.empty();
    private Optional<Lossy> lossy = Optional.empty();
    private Optional<Span> alpha = Optional.empty();
    private Size size = new Size(0, 0);
    private boolean found;

    private WebpHeader(byte[] content, SizeLimits bounds) {
        this.content = content;
        this.bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        this.bounds = bounds;
    }

    /**
     * The lossy image of a file.
     *
     * @param image its VP8 frame
     * @param size the size of the frame
     * @param alpha its alpha chunk
     * @param exif position of EXIF data
     */
    record Lossy(Span image, Size size, Optional<Span> alpha, Optional<Span> exif) {}

    /** Returns the first image of a file, if it is lossy. */
    static Optional<Lossy> lossy(byte[] content, SizeLimits bounds) throws UnreadableException {
        WebpHeader header = of(content, bounds);
        return header.lossy.map(found -> new Lossy(found.image, found.size, found.alpha, header.exif));
    }

    /** Returns the header of a file whose first image is lossless. */
    static FileHeader prepare(byte[] content, SizeLimits bounds) throws UnreadableException {
        WebpHeader header = of(content, bounds);
        return new FileHeader(header.forDecoder(), header.exif, Optional.empty(), true);
    }

    /** Returns the size of the first image, within limits. */
    static Size size(byte[] content, SizeLimits bounds) throws UnreadableException {
        return of(content, bounds).size;
    }

    private static WebpHeader of(byte[] content, SizeLimits bounds) throws UnreadableException {
        WebpHeader header = new WebpHeader(content, bounds);
        long end = CHUNK_HEADER + Integer.toUnsignedLong(header.bytes.getInt(4));
        if (end > content.length) {
            throw UnreadableException.truncated(
                    "expected a WebP of " + end + " bytes as its header says, found " + content.length);
        }
        header.chunks(new Span(FILE_HEADER, (int) end), new Size(0, 0));
        if (!header.found) {
            throw UnreadableException.corrupt("expected a WebP with an image in it, found none");
        }
        return header;
    }

    /** Parses chunks up to the first image and the EXIF data. */
    private void chunks(Span span, Size claimed) throws UnreadableException {
        Size canvas = claimed;
        long position = span.from();
        while (position <= span.to() - CHUNK_HEADER) {
            int at = (int) position;
            long length = Integer.toUnsignedLong(bytes.getInt(at + 4));
            int data = at + CHUNK_HEADER;
            if (length > span.to() - data) {
                throw UnreadableException.truncated(
                        "expected a WebP chunk of " + length + " bytes, found the end after " + (span.to() - data));
            }
            Span body = new Span(data, data + (int) length);
            switch (bytes.getInt(at)) {
                case EXTENDED -> canvas = canvas(body, 4);
                case ALPHA -> alpha = Optional.of(body);
                case LOSSY -> {
                    Size ofFrame = lossy(body);
                    if (!found) {
                        lossy = Optional.of(new Lossy(body, ofFrame, alpha, Optional.empty()));
                    }
                    bitstream(ofFrame, canvas);
                }
                case LOSSLESS -> bitstream(lossless(body), canvas);
                case FRAME -> {
                    // Only the first frame of an animation is read, and frames do not nest.
                    if (!found && span.from() == FILE_HEADER) {
                        alpha = Optional.empty();
                        chunks(new Span(data + 16, body.to()), canvas(body, 6));
                    }
                }
                case EXIF -> exif = Optional.of(body.withoutExifPrefix(content));
                default -> {}
            }
            position = data + length + (length & 1);
        }
    }

    private Size canvas(Span body, int offset) throws UnreadableException {
        require(body, offset + 6);
        return checked(new Size(u24(body.from() + offset) + 1, u24(body.from() + offset + 3) + 1));
    }

    private Size lossy(Span body) throws UnreadableException {
        require(body, 10);
        return checked(new Size(u16(body.from() + 6) & 0x3fff, u16(body.from() + 8) & 0x3fff));
    }

    private Size lossless(Span body) throws UnreadableException {
        require(body, 5);
        int bits = bytes.getInt(body.from() + 1);
        return checked(new Size((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1));
    }

    private static void require(Span body, int least) throws UnreadableException {
        if (body.to() - body.from() < least) {
            throw UnreadableException.corrupt(
                    "expected a WebP chunk of at least " + least + " bytes, found " + (body.to() - body.from()));
        }
    }

    private Size checked(Size claimed) throws UnreadableException {
        bounds.checkSize(claimed.width(), claimed.height());
        return claimed;
    }

    private void bitstream(Size coded, Size claimed) throws UnreadableException {
        if (claimed.width() != 0 && !claimed.equals(coded)) {
            throw UnreadableException.corrupt("expected a WebP image of " + claimed.width() + "×" + claimed.height()
                    + " pixels as its header says, found " + coded.width() + "×" + coded.height());
        }
        if (!found) {
            size = coded;
        }
        found = true;
    }

    /**
     * Returns the input of the decoder: without the flag of the colour profile, which it would apply, and padded, since it reads
     * ahead.
     */
    private byte[] forDecoder() {
        byte[] copy = Arrays.copyOf(content, content.length + READ_AHEAD);
        if (bytes.getInt(FILE_HEADER) == EXTENDED) {
            copy[FLAGS] &= (byte) ~PROFILE_FLAG;
        }
        return copy;
    }

    private int u16(int at) {
        return bytes.getShort(at) & 0xffff;
    }

    private int u24(int at) {
        return u16(at) | (bytes.get(at + 2) & 0xff) << 16;
    }
}
