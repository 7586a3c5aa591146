package org.gramian.image;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.awt.image.Raster;
import java.util.Optional;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;

/**
 * Decodes a JPEG: header, limits, components, colours.
 *
 * <p>A truncated JPEG, which the decoder would fill with gray, is rejected by the decoder's warning. The end marker, which some
 * programs omit, is required for progressive files only, where a missing last scan would go unnoticed.
 */
final class JpegImage {
    /** At least one bit for the mean of each block of 8×8 pixels. */
    private static final int MOST_PIXELS_PER_BYTE = 512;

    /** Twice the scans of a common progressive file; each costs a pass over all pixels. */
    private static final int USUAL_SCANS = 20;

    /** A progressive file of 20 scans has about 100. */
    private static final int MOST_SEGMENTS = 2_000;

    private JpegImage() {}

    /**
     * Decodes a JPEG.
     *
     * @param wanted short side to which the image will be resized, so that a larger one may be decoded at a part of its size; 0 for
     *     all pixels
     */
    static ReadResult.Readable read(byte[] content, DecodingLimits bounds, int wanted) throws UnreadableException {
        JpegHeader header = JpegHeader.of(content);
        JpegHeader.Frame frame = header.frame();
        bounds.checkSize(frame.width(), frame.height());
        long pixels = (long) frame.width() * frame.height();
        bounds.checkLeastBytes(frame.width(), frame.height(), pixels / MOST_PIXELS_PER_BYTE);
        checkScans(header, pixels, bounds.limits());
        if (header.segments() > MOST_SEGMENTS) {
            throw UnreadableException.tooLarge("expected a JPEG of at most " + MOST_SEGMENTS + " segments, found "
                    + header.segments() + "; it is damaged or malicious");
        }
        Image stored = image(header.forDecoder(content), header, bounds, wanted);
        Orientation orientation = header.exif()
                .map(span -> Orientation.ExifTags.of(content, span).orientation())
                .orElse(Orientation.UPRIGHT);
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

    /** Returns the size in the header, within limits. */
    static FileHeader.Size size(byte[] content, DecodingLimits bounds) throws UnreadableException {
        JpegHeader.Frame frame = JpegHeader.frame(content);
        bounds.checkSize(frame.width(), frame.height());
        return new FileHeader.Size(frame.width(), frame.height());
    }

    /** Rejects many nearly empty scans, which would take hours to decode. */
    private static void checkScans(JpegHeader header, long pixels, ImageLimits limits) throws UnreadableException {
        if (header.layered() && !header.complete()) {
            throw UnreadableException.truncated(
                    "expected a progressive JPEG with an end marker, found " + header.scans() + " scans and no marker");
        }
        if (header.scans() > USUAL_SCANS && pixels * header.scans() > USUAL_SCANS * limits.pixels()) {
            throw UnreadableException.tooLarge(
                    "expected a progressive JPEG whose scans have at most " + USUAL_SCANS * limits.pixels()
                            + " pixels together, found " + header.scans() + " scans of " + pixels);
        }
    }

    private static Image image(byte[] content, JpegHeader header, DecodingLimits bounds, int wanted)
            throws UnreadableException {
        Optional<Image> scaled = scaled(content, header, wanted);
        if (scaled.isPresent()) {
            return scaled.get();
        }
        if (header.isUsual()) {
            Optional<Image> fast = fast(content, header, bounds);
            if (fast.isPresent()) {
                return fast.get();
            }
        }
        return tolerant(content, header, bounds);
    }

    private static Optional<Image> scaled(byte[] content, JpegHeader header, int wanted) throws UnreadableException {
        int width = header.frame().width();
        int height = header.frame().height();
        int divisor = wanted == 0 ? 1 : TurboJpeg.divisor(Math.min(width, height), wanted);
        return divisor == 1 || !header.isWhole() || header.coding() == JpegHeader.Coding.RGB
                ? Optional.empty()
                : TurboJpeg.installed().flatMap(decoder -> decoder.decode(content, width, height, divisor));
    }

    /** Decodes with the most tolerant reader. */
    static Image tolerant(byte[] content, JpegHeader header, DecodingLimits bounds) throws UnreadableException {
        try (Decoder decoder = Decoder.tolerant(bounds, content, header.complete())) {
            if (header.frame().marker() == JpegHeader.LOSSLESS) {
                BufferedImage image = decoder.image(bounds);
                return decoder.guarded(() -> new SampleConverter(image).image());
            }
            return image(decoder, header);
        }
    }

    /**
     * Decodes with the fast reader; empty if it fails or warns, so that the tolerant reader decides.
     */
    static Optional<Image> fast(byte[] content, JpegHeader header, DecodingLimits bounds) throws UnreadableException {
        Optional<Decoder> found = Decoder.fastJpeg(bounds, content, header.complete());
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

        private JpegColours() {}

        private static int fixed(double factor) {
            return (int) Math.round(factor * (1 << FRACTION_BITS));
        }

        /** Converts interleaved components to RGB, in place if possible. */
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
}
