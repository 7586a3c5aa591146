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
 * <p>When a JPEG ends too early the decoder fills up with gray and goes on. Such an image is refused. What counts is not the
 * end marker, which some programs forget, nor what follows it, but whether the decoder missed data: it then warns. Only a
 * image in several layers (progressive) must have the marker, since without it a last layer may be missing unnoticed.
 */
final class JpegImage {
    /** At least one bit for the mean of each block of 8×8 pixels. */
    private static final int MOST_PIXELS_PER_BYTE = 512;

    /** Layers of a usual progressive file, doubled; each costs a pass over all pixels. */
    private static final int USUAL_SCANS = 20;

    private JpegImage() {}

    static ReadResult.Readable read(byte[] content, Bounds bounds) throws UnreadableException {
        JpegHeader header = JpegHeader.of(content);
        JpegHeader.Frame frame = header.frame();
        bounds.checkSize(frame.width(), frame.height());
        long pixels = (long) frame.width() * frame.height();
        bounds.checkLeastBytes(frame.width(), frame.height(), pixels / MOST_PIXELS_PER_BYTE);
        checkScans(header, pixels, bounds.limits());
        Image stored = image(content, header, bounds);
        Orientation orientation = header.exif()
                .map(span -> ExifTags.of(content, span).orientation())
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

    /** A file of many nearly empty scans would keep a decoder busy for hours. */
    private static void checkScans(JpegHeader header, long pixels, ImageLimits limits) throws UnreadableException {
        if (header.layered() && !header.complete()) {
            throw new UnreadableException(
                    Problem.TRUNCATED,
                    "expected a progressive JPEG with an end marker, found " + header.scans() + " scans and no marker");
        }
        if (header.scans() > USUAL_SCANS && pixels * header.scans() > USUAL_SCANS * limits.pixels()) {
            throw new UnreadableException(
                    Problem.TOO_LARGE,
                    "expected a progressive JPEG whose scans have at most " + USUAL_SCANS * limits.pixels()
                            + " pixels together, found " + header.scans() + " scans of " + pixels);
        }
    }

    private static Image image(byte[] content, JpegHeader header, Bounds bounds) throws UnreadableException {
        if (header.isUsual()) {
            Optional<Image> quick = quick(content, header);
            if (quick.isPresent()) {
                return quick.get();
            }
        }
        return forgiven(content, header, bounds);
    }

    /** The image from the reader that forgives most. */
    static Image forgiven(byte[] content, JpegHeader header, Bounds bounds) throws UnreadableException {
        try (Decoder decoder = Decoder.of(ImageFormat.JPEG, content, header.complete())) {
            if (header.frame().marker() == JpegHeader.LOSSLESS) {
                BufferedImage image = decoder.image(bounds);
                return decoder.guarded(() -> new Samples(image).image());
            }
            return image(decoder, header);
        }
    }

    /**
     * The same image from the JDK's own reader, or none where that has anything to complain of: then the reader that forgives
     * more decides, alone, whether the file is good.
     */
    static Optional<Image> quick(byte[] content, JpegHeader header) throws UnreadableException {
        Optional<Decoder> found = Decoder.quick(content, header.complete());
        if (found.isEmpty()) {
            return Optional.empty();
        }
        try (Decoder decoder = found.get()) {
            Image image = image(decoder, header);
            return decoder.isContent() ? Optional.of(image) : Optional.empty();
        } catch (UnreadableException complaint) {
            if (complaint.reading().problem() == Problem.TOO_LARGE) {
                throw complaint; // it would keep the other reader busy just as long
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
                throw new UnreadableException(
                        Problem.CORRUPT,
                        "expected " + header.frame().components() + " components, found " + raster.getNumBands());
            }
            return new Image(width, height, JpegColours.rgb(components, coding, header.inverted()));
        });
    }
}
