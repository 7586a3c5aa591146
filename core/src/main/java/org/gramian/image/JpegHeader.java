package org.gramian.image;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.image.FileHeader.Span;
import org.gramian.image.ReadResult.Problem;
import org.jspecify.annotations.Nullable;

/**
 * Markers of a JPEG, read in one pass over the file without decoding.
 *
 * @param frame the frame: size and components
 * @param transform colour transform of the Adobe marker, or −1 without one
 * @param jfif whether the file is JFIF, whose colours are YCbCr
 * @param exif position of EXIF data
 * @param scans number of scans: one in a baseline file, about ten in a progressive one
 * @param complete whether the end-of-image marker was found
 * @param segments number of segments that the decoder gets
 * @param unused segments before the first scan that no decoder needs: comments, colour profiles, thumbnails, data of programs
 * @param peculiar whether there is a feature that decoders treat differently: a colour profile, which is ignored here, or 16-bit
 *     quantization tables
 */
record JpegHeader(
        Frame frame,
        int transform,
        boolean jfif,
        Optional<Span> exif,
        int scans,
        int segments,
        List<Span> unused,
        boolean complete,
        boolean peculiar) {
    static final int LOSSLESS = 0xc3;
    private static final int BASELINE = 0xc0;
    private static final int PROGRESSIVE = 0xc2;

    /**
     * The start-of-frame segment.
     *
     * @param marker its marker, which says how the data is coded
     * @param names the one-byte name of each component
     */
    record Frame(int marker, int bits, int width, int height, String names) {
        int components() {
            return names.length();
        }
    }

    /** Colour space of the components. */
    enum Coding {
        GRAY,
        RGB,
        YCC,
        CMYK,
        YCCK
    }

    static JpegHeader of(byte[] content) throws UnreadableException {
        return new Parser(content).header();
    }

    /** Returns the frame without reading on behind it. */
    static Frame frame(byte[] content) throws UnreadableException {
        Parser parser = new Parser(content);
        parser.onlyFrame = true;
        return parser.header().frame();
    }

    /**
     * Returns the file without its {@link #unused} segments: the time of decoders is quadratic in their number (100,000 empty ones:
     * 48 s).
     */
    byte[] forDecoder(byte[] content) {
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
        return switch (frame.components()) {
            case 1 -> Coding.GRAY;
            case 3 -> {
                boolean rgb = !jfif && (transform == 0 || (transform < 0 && frame.names.equals("RGB")));
                yield rgb ? Coding.RGB : Coding.YCC;
            }
            case 4 -> transform > 0 ? Coding.YCCK : Coding.CMYK;
            default ->
                throw UnreadableException.unknownFormat(
                        "expected a JPEG of 1, 3 or 4 components, found " + frame.components());
        };
    }

    /** Returns whether CMYK values are inverted, as Adobe stores them. */
    boolean inverted() {
        return transform >= 0;
    }

    /** Returns whether more scans may follow each one, so that only the end marker shows completeness. */
    boolean layered() {
        return frame.marker == PROGRESSIVE || scans > 1;
    }

    /**
     * Returns whether it is a common JPEG: complete, eight bits, one or three components, Huffman-coded, nothing peculiar.
     */
    boolean isUsual() {
        return !peculiar && isWhole();
    }

    /** Returns whether the file has an end marker and 1 or 3 components of 8 bits in Huffman coding. */
    boolean isWhole() {
        return complete
                && frame.bits == Byte.SIZE
                && (frame.components() == 1 || frame.components() == 3)
                && frame.marker >= BASELINE
                && frame.marker <= PROGRESSIVE;
    }

    /** Parses the segments. */
    private static final class Parser {
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
        private int transform = -1;
        private boolean jfif;
        private Optional<Span> exif = Optional.empty();
        private int scans;
        private int segments;
        private final List<Span> unused = new ArrayList<>();
        private boolean peculiar;
        private boolean onlyFrame;

        Parser(byte[] content) {
            this.content = content;
        }

        JpegHeader header() throws UnreadableException {
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
            if (frame == null) {
                throw new UnreadableException(
                        marker == END_OF_IMAGE ? Problem.CORRUPT : Problem.TRUNCATED,
                        "expected a JPEG with a start-of-frame segment, found none up to byte " + position + " of "
                                + content.length);
            }
            return new JpegHeader(
                    frame, transform, jfif, exif, scans, segments, unused, marker == END_OF_IMAGE, peculiar);
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
