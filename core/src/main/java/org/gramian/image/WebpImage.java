package org.gramian.image;

import java.util.Optional;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.WebpHeader.Lossy;
import org.gramian.image.vp8.Vp8Decoder;
import org.gramian.image.vp8.Vp8Decoder.Frame;
import org.gramian.image.vp8.Vp8Exception;

/**
 * Decodes a WebP: one with loss by {@link Vp8Decoder}, to the bit as the reference library libwebp does, and its transparency by {@link
 * WebpAlpha}; one without by an image reader.
 */
final class WebpImage {
    private static final int BITS = 8;

    private WebpImage() {}

    static ReadResult read(byte[] content, Bounds bounds) throws UnreadableException {
        Optional<Lossy> lossy = WebpHeader.lossy(content, bounds);
        return lossy.isPresent() ? lossy(content, lossy.get(), bounds) : ImageReader.decode(content, bounds);
    }

    private static ReadResult lossy(byte[] content, Lossy found, Bounds bounds) throws UnreadableException {
        // Transparency first: its decoder needs more memory, and leaves less behind.
        byte[] alpha = found.alpha().isPresent()
                ? new WebpAlpha(content, found.alpha().get(), found.size()).plane(bounds)
                : new byte[0];
        Frame frame = frame(content, found.image());
        if (found.alpha().isPresent()) {
            composeOverWhite(frame.rgb(), alpha);
        }
        Orientation orientation = found.exif()
                .map(span -> ExifTags.of(content, span).orientation())
                .orElse(Orientation.UPRIGHT);
        ImageInfo origin = new ImageInfo(
                ImageFormat.WEBP,
                found.alpha().isPresent() ? Colour.RGB_ALPHA : Colour.RGB,
                BITS,
                frame.width(),
                frame.height(),
                orientation.number());
        return new ReadResult.Readable(
                orientation.upright(new Image(frame.width(), frame.height(), frame.rgb())), origin);
    }

    private static Frame frame(byte[] content, Span span) throws UnreadableException {
        try {
            return Vp8Decoder.decode(content, span.from(), span.to());
        } catch (Vp8Exception e) {
            throw new UnreadableException(
                    e.isTruncated() ? Problem.TRUNCATED : Problem.CORRUPT, String.valueOf(e.getMessage()));
        }
    }

    private static void composeOverWhite(byte[] rgb, byte[] alpha) {
        for (int i = 0; i < rgb.length; i++) {
            int opacity = alpha[i / 3] & 0xff;
            int value = (rgb[i] & 0xff) * opacity + 255 * (255 - opacity);
            rgb[i] = (byte) ((2 * value + 255) / (2 * 255));
        }
    }
}
