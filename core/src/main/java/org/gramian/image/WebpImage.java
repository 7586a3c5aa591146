package org.gramian.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.gramian.image.FileHeader.Size;
import org.gramian.image.FileHeader.Span;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.WebpHeader.Lossy;
import org.gramian.image.vp8.Vp8Decoder;
import org.gramian.image.vp8.Vp8Decoder.Frame;
import org.gramian.image.vp8.Vp8Exception;

/**
 * Decodes a WebP: lossy images by {@link Vp8Decoder}, bit-identical to libwebp, with alpha by {@link WebpAlpha}; lossless ones by an
 * image reader.
 */
final class WebpImage {
    private static final int BITS = 8;

    private WebpImage() {}

    static ReadResult read(byte[] content, SizeLimits bounds) throws UnreadableException {
        Optional<Lossy> lossy = WebpHeader.lossy(content, bounds);
        return lossy.isPresent() ? lossy(content, lossy.get(), bounds) : ImageReader.decode(content, bounds);
    }

    private static ReadResult lossy(byte[] content, Lossy found, SizeLimits bounds) throws UnreadableException {
        // Alpha first: its decoder has the larger peak memory.
        byte[] alpha = found.alpha().isPresent()
                ? new WebpAlpha(content, found.alpha().get(), found.size()).plane(bounds)
                : new byte[0];
        Frame frame = frame(content, found.image(), bounds.time());
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

    private static Frame frame(byte[] content, Span span, TimeLimit time) throws UnreadableException {
        try {
            return Vp8Decoder.decode(content, span.from(), span.to(), time::isOver);
        } catch (CancellationException _) {
            throw TimeLimit.exceeded(content.length);
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

    /**
     * Reads the alpha channel of a lossy WebP: a byte for each pixel, stored raw or as the green channel of a lossless image, after
     * a prediction filter.
     *
     * <p>Reference: RFC 9649, WebP Image Format, section 2.7.1.2.
     */
    private static final class WebpAlpha {
        /** Bytes of a lossless image before its data: those of file and chunk, and five with mark and size. */
        private static final int LOSSLESS_HEADER = 25;

        private static final byte LOSSLESS_MARK = 0x2f;

        private static final int RAW = 0;
        private static final int COMPRESSED = 1;
        private static final int HORIZONTAL = 1;
        private static final int VERTICAL = 2;

        private final byte[] content;
        private final Span span;
        private final Size size;

        /** @param span the content of the chunk */
        WebpAlpha(byte[] content, Span span, Size size) {
            this.content = content;
            this.span = span;
            this.size = size;
        }

        /** Returns the opacity of each pixel, {@code [height, width]}: 0 is transparent, 255 opaque. */
        byte[] plane(SizeLimits bounds) throws UnreadableException {
            if (span.from() == span.to()) {
                throw UnreadableException.truncated("expected the transparency of a WebP, found no bytes");
            }
            int flags = content[span.from()];
            byte[] plane = switch (flags & 3) {
                case RAW -> raw();
                case COMPRESSED -> compressed(bounds);
                default ->
                    throw UnreadableException.corrupt(
                            "expected the transparency of a WebP raw or lossless, found method " + (flags & 3));
            };
            undoFilter(plane, flags >> 2 & 3);
            return plane;
        }

        private byte[] raw() throws UnreadableException {
            int pixels = size.width() * size.height();
            int from = span.from() + 1;
            if (span.to() - from < pixels) {
                throw UnreadableException.truncated(
                        "expected " + pixels + " bytes of transparency in a WebP, found " + (span.to() - from));
            }
            return Arrays.copyOfRange(content, from, from + pixels);
        }

        private byte[] compressed(SizeLimits bounds) throws UnreadableException {
            try (Decoder decoder = Decoder.tolerant(bounds, lossless(), true)) {
                byte[] rgb = new SampleConverter(decoder.image(bounds)).image().rgb();
                byte[] green = new byte[rgb.length / 3];
                for (int i = 0; i < green.length; i++) {
                    green[i] = rgb[3 * i + 1];
                }
                return green;
            }
        }

        /** Returns the data as a lossless WebP file, with headers. */
        private byte[] lossless() {
            int length = span.to() - span.from() - 1;
            ByteBuffer file = ByteBuffer.allocate(LOSSLESS_HEADER + length + WebpHeader.READ_AHEAD)
                    .order(ByteOrder.LITTLE_ENDIAN);
            file.put(ascii("RIFF")).putInt(LOSSLESS_HEADER - 8 + length + ((length + 5) & 1));
            file.put(ascii("WEBPVP8L")).putInt(length + 5);
            file.put(LOSSLESS_MARK).putInt((size.width() - 1) | ((size.height() - 1) << 14));
            file.put(content, span.from() + 1, length);
            return file.array();
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }

        /** Adds the prediction to each byte: left, above, or left plus above minus corner. */
        private void undoFilter(byte[] plane, int filter) {
            if (filter == 0) {
                return;
            }
            int width = size.width();
            for (int i = 1; i < plane.length; i++) {
                int x = i % width;
                int predicted;
                if (i < width || (x > 0 && filter == HORIZONTAL)) {
                    predicted = plane[i - 1];
                } else if (x == 0 || filter == VERTICAL) {
                    predicted = plane[i - width];
                } else {
                    int sum = (plane[i - 1] & 0xff) + (plane[i - width] & 0xff) - (plane[i - width - 1] & 0xff);
                    predicted = Math.clamp(sum, 0, 255);
                }
                plane[i] += (byte) predicted;
            }
        }
    }
}
