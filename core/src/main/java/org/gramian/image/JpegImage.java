package org.gramian.image;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.awt.image.Raster;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.gramian.image.FileHeader.Span;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a JPEG: header, limits, components, colours.
 *
 * <p>A truncated JPEG, which the decoder would fill with gray, is rejected by the decoder's warning. The end marker, which some
 * programs omit, is required for progressive files only, where a missing last scan would go unnoticed.
 */
final class JpegImage {
    /** At least one bit for the mean of each block of 8×8 pixels. */
    private static final int MAX_PIXELS_PER_BYTE = 512;

    /** Twice the scans of a common progressive file; each costs a pass over all pixels. */
    private static final int USUAL_SCANS = 20;

    /** Pixels of all scans that any file may have, beyond the usual scans: 0.7 s. */
    private static final long SCANNED_PIXELS = 100_000_000;

    private static final int BLOCK = 16;

    /** A progressive file of 20 scans has about 100. */
    private static final int MAX_SEGMENTS = 2_000;

    private JpegImage() {}

    static ReadResult.Readable read(byte[] content, DecodingLimits bounds) throws UnreadableException {
        JpegHeader header = JpegHeader.of(content);
        JpegHeader.Frame frame = header.frame();
        bounds.checkSize(frame.width(), frame.height());
        long pixels = (long) frame.width() * frame.height();
        bounds.checkLeastBytes(frame.width(), frame.height(), pixels / MAX_PIXELS_PER_BYTE);
        if (header.segments > MAX_SEGMENTS) {
            throw UnreadableException.tooLarge("expected a JPEG of at most " + MAX_SEGMENTS + " segments, found "
                    + header.segments + "; it is damaged or malicious");
        }
        checkScans(header);
        Image stored = image(header.forDecoder(), header, bounds);
        Orientation orientation = Orientation.of(content, header.exif);
        Colour colour = switch (frame.components()) {
            case 1 -> Colour.GRAY;
            case 3 -> Colour.RGB;
            default -> Colour.CMYK;
        };
        return new ReadResult.Readable(
                orientation.upright(stored),
                new ImageInfo(
                        ImageFormat.JPEG, colour, frame.bits(), frame.width(), frame.height(), orientation.number()));
    }

    /** Rejects many nearly empty scans, which would take hours to decode. */
    private static void checkScans(JpegHeader header) throws UnreadableException {
        JpegHeader.Frame frame = header.frame();
        long pixels = (long) Math.ceilDiv(frame.width(), BLOCK) * Math.ceilDiv(frame.height(), BLOCK) * BLOCK * BLOCK;
        if (header.layered() && !header.complete) {
            throw UnreadableException.truncated(
                    "expected a progressive JPEG with an end marker, found " + header.scans + " scans and no marker");
        }
        if (header.scans > USUAL_SCANS && pixels * header.scans > SCANNED_PIXELS) {
            throw UnreadableException.tooLarge("expected a JPEG of at most " + USUAL_SCANS + " scans, or of "
                    + SCANNED_PIXELS + " pixels in all scans together, found " + header.scans + " scans of " + pixels);
        }
    }

    private static Image image(byte[] content, JpegHeader header, DecodingLimits bounds) throws UnreadableException {
        if (header.isUsual()) {
            Optional<Image> fast = fast(content, header, bounds);
            if (fast.isPresent()) {
                return fast.get();
            }
        }
        return tolerant(content, header, bounds);
    }

    static Image tolerant(byte[] content, JpegHeader header, DecodingLimits bounds) throws UnreadableException {
        try (Decoder decoder = Decoder.tolerant(bounds, content, header.complete)) {
            if (header.frame().marker() == JpegHeader.LOSSLESS) {
                BufferedImage image = decoder.image(bounds);
                return decoder.guarded(() -> new SampleConverter(image).image());
            }
            return image(decoder, header);
        }
    }

    /** Decodes with the fast reader; empty if it fails or warns, so that the tolerant reader decides. */
    static Optional<Image> fast(byte[] content, JpegHeader header, DecodingLimits bounds) throws UnreadableException {
        Optional<Decoder> found = Decoder.fastJpeg(bounds, content, header.complete);
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (Decoder decoder = found.get()) {
            Image image = image(decoder, header);
            return decoder.hasNoWarnings() ? Optional.of(image) : Optional.empty();
        } catch (UnreadableException failure) {
            if (failure.reading().problem() == Problem.TOO_LARGE) {
                throw failure; // the other reader would take as long
            }
            return Optional.empty();
        }
    }

    private static Image image(Decoder decoder, JpegHeader header) throws UnreadableException {
        int width = header.frame().width();
        int height = header.frame().height();
        JpegHeader.Coding coding = header.coding();
        Raster raster = decoder.raster(width, height);
        return decoder.guarded(() -> {
            byte[] components = ((DataBufferByte) raster.getDataBuffer()).getData();
            if (components.length != (long) width * height * header.frame().components()) {
                throw UnreadableException.corrupt(
                        "expected " + header.frame().components() + " components, found " + raster.getNumBands());
            }
            return new Image(width, height, JpegColours.rgb(components, coding, header.inverted()));
        });
    }

    /**
     * Turns the components of a JPEG into RGB by the formulas of JFIF, leaving colour profiles aside.
     *
     * <pre>
     * R = Y + 1.402 (Cr − 128)
     * G = Y − 0.344136 (Cb − 128) − 0.714136 (Cr − 128)
     * B = Y + 1.772 (Cb − 128)
     * </pre>
     *
     * <p>Inks {@code c, m, y, k} between 0 and 1 give {@code R = (1−c)(1−k)} and so on.
     */
    private static final class JpegColours {
        private static final int FRACTION_BITS = 16;
        private static final int RED_CR = fixed(1.402);
        private static final int GREEN_CB = fixed(0.344136);
        private static final int GREEN_CR = fixed(0.714136);
        private static final int BLUE_CB = fixed(1.772);

        /** More than a colour can be below zero or above 255: at most {@code 1.772·128}. */
        private static final int BELOW = 256;
        /** Half of one for rounding, and {@link #BELOW}, so that no place of the table is negative. */
        private static final int SHIFTED_HALF = (BELOW << FRACTION_BITS) + (1 << (FRACTION_BITS - 1));
        /** A lookup is faster than two comparisons. */
        private static final byte[] CLAMPED = clamped();

        private static int fixed(double factor) {
            return (int) Math.round(factor * (1 << FRACTION_BITS));
        }

        static byte[] rgb(byte[] components, JpegHeader.Coding coding, boolean inverted) {
            return switch (coding) {
                case RGB -> components;
                case GRAY -> gray(components);
                case YCC -> {
                    fromYcc(components, 3);
                    yield components;
                }
                case CMYK -> inks(components, inverted);
                case YCCK -> {
                    fromYcc(components, 4);
                    for (int at = 0; at < components.length; at += 4) {
                        for (int ink = 0; ink < 3; ink++) {
                            components[at + ink] = (byte) ~components[at + ink];
                        }
                    }
                    yield inks(components, inverted);
                }
            };
        }

        private static byte[] gray(byte[] gray) {
            byte[] rgb = new byte[3 * gray.length];
            for (int i = 0, target = 0; i < gray.length; i++) {
                rgb[target++] = gray[i];
                rgb[target++] = gray[i];
                rgb[target++] = gray[i];
            }
            return rgb;
        }

        private static void fromYcc(byte[] values, int step) {
            byte[] clamped = CLAMPED; // a local copy, which the loop cannot change
            for (int at = 0; at < values.length; at += step) {
                int y = ((values[at] & 0xff) << FRACTION_BITS) + SHIFTED_HALF;
                int cb = (values[at + 1] & 0xff) - 128;
                int cr = (values[at + 2] & 0xff) - 128;
                values[at] = clamped[(y + RED_CR * cr) >> FRACTION_BITS];
                values[at + 1] = clamped[(y - GREEN_CB * cb - GREEN_CR * cr) >> FRACTION_BITS];
                values[at + 2] = clamped[(y + BLUE_CB * cb) >> FRACTION_BITS];
            }
        }

        /** What a whole number, moved up by {@link #BELOW}, becomes as a byte. */
        private static byte[] clamped() {
            byte[] bytes = new byte[3 * BELOW];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Math.clamp(i - BELOW, 0, 255);
            }
            return bytes;
        }

        private static byte[] inks(byte[] inks, boolean inverted) {
            byte[] rgb = new byte[inks.length / 4 * 3];
            int flip = inverted ? 0 : 0xff;
            for (int at = 0, target = 0; at < inks.length; at += 4) {
                int black = (inks[at + 3] ^ flip) & 0xff;
                for (int ink = 0; ink < 3; ink++) {
                    rgb[target++] = (byte) ((((inks[at + ink] ^ flip) & 0xff) * black + 127) / 255);
                }
            }
            return rgb;
        }
    }

    /** Markers of a JPEG, read in one pass over the file without decoding. */
    static final class JpegHeader {
        static final int LOSSLESS = 0xc3;
        private static final int BASELINE = 0xc0;
        private static final int PROGRESSIVE = 0xc2;
        private static final int START_OF_SCAN = 0xda;
        private static final int END_OF_IMAGE = 0xd9;
        private static final int QUANTIZATION = 0xdb;
        private static final int COMMENT = 0xfe;
        private static final int APPLICATION = 0xe0;
        private static final int EXIF = 0xe1;
        private static final int PROFILE = 0xe2;
        private static final int ADOBE = 0xee;

        private final byte[] content;
        private int position = 2;
        private @Nullable Frame frame;

        /** Colour transform of the Adobe marker, or −1 without one. */
        private int transform = -1;

        /** Whether the file is JFIF, whose colours are YCbCr. */
        private boolean jfif;

        private Optional<Span> exif = Optional.empty();

        /** One in a baseline file, about ten in a progressive one. */
        private int scans;

        private int segments;

        /** Segments before the first scan that no decoder needs: comments, colour profiles, thumbnails, data of programs. */
        private final List<Span> unused = new ArrayList<>();

        private boolean complete;

        /** Whether decoders treat it differently: a colour profile, which is ignored here, or 16-bit quantization tables. */
        private boolean peculiar;

        /** The start-of-frame segment. */
        record Frame(int marker, int bits, int width, int height, String names) {
            int components() {
                return names.length();
            }
        }

        enum Coding {
            GRAY,
            RGB,
            YCC,
            CMYK,
            YCCK
        }

        private JpegHeader(byte[] content, boolean onlyFrame) throws UnreadableException {
            this.content = content;
            int marker = nextMarker();
            while (marker >= 0 && marker != END_OF_IMAGE && !(onlyFrame && frame != null)) {
                if (!standsAlone(marker)) {
                    int length = position + 2 <= content.length ? u16(position) : 0;
                    if (length < 2 || length > content.length - position) {
                        break;
                    }
                    if (segment(marker, new Span(position + 2, position + length)) || scans > 0) {
                        segments++;
                    } else {
                        drop(new Span(position - 2, position + length));
                    }
                    position += length;
                }
                marker = nextMarker();
            }
            complete = marker == END_OF_IMAGE;
            if (frame == null) {
                throw new UnreadableException(
                        complete ? Problem.CORRUPT : Problem.TRUNCATED,
                        "expected a JPEG with a start-of-frame segment, found none up to byte " + position + " of "
                                + content.length);
            }
        }

        static JpegHeader of(byte[] content) throws UnreadableException {
            return new JpegHeader(content, false);
        }

        /** Returns the frame without reading on behind it. */
        static Frame frame(byte[] content) throws UnreadableException {
            return new JpegHeader(content, true).frame();
        }

        Frame frame() {
            return Objects.requireNonNull(frame);
        }

        /**
         * Returns the file without its {@link #unused} segments: the time of decoders is quadratic in their number (100,000 empty ones:
         * 48 s).
         */
        byte[] forDecoder() {
            if (unused.isEmpty()) {
                return content;
            }
            int length = content.length
                    - unused.stream().mapToInt(span -> span.to() - span.from()).sum();
            byte[] kept = new byte[length];
            int from = 0;
            int to = 0;
            for (Span span : unused) {
                System.arraycopy(content, from, kept, to, span.from() - from);
                to += span.from() - from;
                from = span.to();
            }
            System.arraycopy(content, from, kept, to, content.length - from);
            return kept;
        }

        /** Returns the colour space by the rules of libjpeg; the format has no field for it. */
        Coding coding() throws UnreadableException {
            return switch (frame().components()) {
                case 1 -> Coding.GRAY;
                case 3 -> {
                    boolean rgb = !jfif
                            && (transform == 0
                                    || (transform < 0 && frame().names.equals("RGB")));
                    yield rgb ? Coding.RGB : Coding.YCC;
                }
                case 4 -> transform > 0 ? Coding.YCCK : Coding.CMYK;
                default ->
                    throw UnreadableException.unknownFormat(
                            "expected a JPEG of 1, 3 or 4 components, found " + frame().components());
            };
        }

        boolean inverted() {
            return transform >= 0;
        }

        /** Returns whether more scans may follow each one, so that only the end marker shows completeness. */
        boolean layered() {
            return frame().marker == PROGRESSIVE || scans > 1;
        }

        /** Returns whether it is a common JPEG: complete, eight bits, one or three components, Huffman-coded, nothing peculiar. */
        boolean isUsual() {
            return !peculiar
                    && complete
                    && frame().bits == Byte.SIZE
                    && (frame().components() == 1 || frame().components() == 3)
                    && frame().marker >= BASELINE
                    && frame().marker <= PROGRESSIVE;
        }

        /** The next marker, past padding, garbage and the coded data of a scan; −1 at the end of the file. */
        private int nextMarker() {
            while (position + 1 < content.length) {
                int marker = content[position++] == (byte) 0xff ? u8(position) : 0;
                if (marker != 0xff && marker != 0) {
                    position++;
                    return marker;
                }
            }
            return -1;
        }

        /** Restart markers inside a scan, the start of an image and the marker without meaning have no length. */
        private static boolean standsAlone(int marker) {
            return (marker >= 0xd0 && marker <= 0xd8) || marker == 1;
        }

        /** Reads a segment; returns whether the decoder needs it. */
        private boolean segment(int marker, Span body) throws UnreadableException {
            if (marker == START_OF_SCAN) {
                scans++;
            } else if (marker == APPLICATION) {
                boolean found = body.begins(content, "JFIF\0");
                jfif |= found;
                return found;
            } else if (marker == EXIF && exif.isEmpty() && body.begins(content, "Exif\0\0")) {
                exif = Optional.of(body.withoutExifPrefix(content));
                return true; // the JDK's reader decides by it whether colours are YCbCr
            } else if (marker == ADOBE && body.begins(content, "Adobe") && body.to() - body.from() >= 12) {
                transform = u8(body.from() + 11);
                return true;
            } else if (marker == PROFILE) {
                peculiar |= body.begins(content, "ICC_PROFILE\0");
            } else if (marker == QUANTIZATION) {
                peculiar |= hasWideTable(body);
            } else if (isFrame(marker) && frame == null) {
                frame = frame(marker, body);
            }
            return marker != COMMENT && (marker < APPLICATION || marker > APPLICATION + 0xf);
        }

        /** Adds a segment to the unused ones, joined with the one before if they touch. */
        private void drop(Span segment) {
            if (!unused.isEmpty() && unused.getLast().to() == segment.from()) {
                unused.set(unused.size() - 1, new Span(unused.getLast().from(), segment.to()));
            } else {
                unused.add(segment);
            }
        }

        /** Each table: a byte whose upper half is 0 for 64 values of a byte and 1 for as many of two, then the values. */
        private boolean hasWideTable(Span body) {
            for (int at = body.from(); at < body.to(); at += 65) {
                if (u8(at) > 0xf) {
                    return true;
                }
            }
            return false;
        }

        private static boolean isFrame(int marker) {
            return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        }

        private Frame frame(int marker, Span body) throws UnreadableException {
            int length = body.to() - body.from();
            int components = length >= 6 ? u8(body.from() + 5) : 0;
            if (components == 0 || length < 6 + 3 * components) {
                throw UnreadableException.corrupt(
                        "expected a JPEG whose frame lists its components, found " + length + " bytes");
            }
            byte[] names = new byte[components];
            for (int i = 0; i < components; i++) {
                names[i] = content[body.from() + 6 + 3 * i];
            }
            String text = new String(names, StandardCharsets.ISO_8859_1);
            return new Frame(marker, u8(body.from()), u16(body.from() + 3), u16(body.from() + 1), text);
        }

        private int u8(int at) {
            return Byte.toUnsignedInt(content[at]);
        }

        private int u16(int at) {
            return u8(at) << 8 | u8(at + 1);
        }
    }
}
