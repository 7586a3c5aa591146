package org.gramian.image;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.imageio.ImageReadParam;
import org.gramian.image.FileHeader.Span;
import org.gramian.tensor.library.CacheFolder;
import org.jspecify.annotations.Nullable;

/**
 * The first image of a WebP: checks that all chunks are complete and that all sizes agree, and passes only the chunks of that image
 * to libwebp.
 *
 * <p>Reference: RFC 9649, WebP Image Format.
 */
final class WebpImage {
    private static final int EXTENDED = 0x58385056;
    private static final int LOSSY = 0x20385056;
    private static final int LOSSLESS = 0x4c385056;
    private static final int FRAME = 0x464d4e41;
    private static final int EXIF = 0x46495845;
    private static final int ALPHA = 0x48504c41;

    /**
     * A lossless pixel takes at most 4 bytes and little more for prefix codes. A group of these takes 20 bits in the file and, if one of
     * its 16 pixels or more uses it, 5 KB in libwebp. There are at most 65,536 groups: 342 MB, measured for 1 megapixel in 295 kB.
     */
    private static final int LOSSLESS_PIXEL_BYTES = 6;

    private static final int LOSSLESS_FREE_BYTES = 4096;

    private static final int CHUNK_HEADER = 8;
    private static final int FILE_HEADER = 12;

    private final byte[] content;
    private final ByteBuffer bytes;
    private final DecodingLimits bounds;
    private @Nullable Span exif;
    private @Nullable Span alpha;
    private @Nullable Span image;

    private WebpImage(byte[] content, DecodingLimits bounds) {
        this.content = content;
        this.bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        this.bounds = bounds;
    }

    /** Columns and rows; zero while unknown. */
    private record Size(int width, int height) {}

    /** Returns the input of libwebp: the chunks of the first image, transparency before pixels, and the EXIF data after them. */
    static FileHeader prepare(byte[] content, DecodingLimits bounds) throws UnreadableException {
        WebpImage webp = of(content, bounds);
        Libwebp.parameters(); // before Java's image readers look for it
        Span pixels = webp.image == null ? new Span(0, 0) : webp.image;
        boolean lossy = webp.bytes.getInt(pixels.from()) == LOSSY;
        Span alpha = lossy && webp.alpha != null ? webp.alpha : new Span(0, 0);
        Span exif = webp.exif == null ? new Span(0, 0) : webp.exif;
        int images = alpha.length() + pixels.length();
        byte[] copy = ByteBuffer.allocate(images + exif.length())
                .put(content, alpha.from(), alpha.length())
                .put(content, pixels.from(), pixels.length())
                .put(content, exif.from(), exif.length())
                .array();
        Optional<Span> moved = webp.exif == null ? Optional.empty() : Optional.of(new Span(images, copy.length));
        return new FileHeader(copy, moved, Optional.empty(), true);
    }

    private static WebpImage of(byte[] content, DecodingLimits bounds) throws UnreadableException {
        WebpImage webp = new WebpImage(content, bounds);
        long end = CHUNK_HEADER + Integer.toUnsignedLong(webp.bytes.getInt(4));
        if (end > content.length) {
            throw UnreadableException.truncated(
                    "expected a WebP of " + end + " bytes as its header says, found " + content.length);
        }
        webp.chunks(new Span(FILE_HEADER, (int) end), new Size(0, 0));
        if (webp.image == null) {
            throw UnreadableException.corrupt("expected a WebP with an image in it, found none");
        }
        return webp;
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
            position = data + length + (length & 1);
            Span chunk = new Span(at, (int) Math.min(position, span.to()));
            switch (bytes.getInt(at)) {
                case EXTENDED -> canvas = canvas(body, 4);
                case ALPHA -> alpha = image == null ? chunk : alpha;
                case LOSSY -> image(chunk, lossy(body), canvas);
                case LOSSLESS -> image(chunk, lossless(body), canvas);
                case FRAME -> {
                    // Only the first frame of an animation is read, and frames do not nest.
                    if (image == null && span.from() == FILE_HEADER) {
                        alpha = null;
                        chunks(new Span(data + 16, body.to()), canvas(body, 6));
                    }
                }
                case EXIF -> exif = body.withoutExifPrefix(content);
                default -> {}
            }
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
        if (body.length() < least) {
            throw UnreadableException.corrupt(
                    "expected a WebP chunk of at least " + least + " bytes, found " + body.length());
        }
    }

    private Size checked(Size claimed) throws UnreadableException {
        bounds.checkSize(claimed.width(), claimed.height());
        return claimed;
    }

    private void image(Span chunk, Size coded, Size claimed) throws UnreadableException {
        if (claimed.width() != 0 && !claimed.equals(coded)) {
            throw UnreadableException.corrupt("expected a WebP image of " + claimed.width() + "×" + claimed.height()
                    + " pixels as its header says, found " + coded.width() + "×" + coded.height());
        }
        if (image == null) {
            image = chunk;
            long limit = LOSSLESS_FREE_BYTES + (long) LOSSLESS_PIXEL_BYTES * coded.width() * coded.height();
            checkBytes(bytes.getInt(chunk.from()) == LOSSLESS ? chunk.length() : 0, limit);
            checkBytes(alpha == null ? 0 : alpha.length(), limit);
        }
    }

    private static void checkBytes(int length, long limit) throws UnreadableException {
        if (length > limit) {
            throw UnreadableException.tooLarge(
                    "expected at most " + limit + " bytes of lossless data for the size of the WebP, found " + length);
        }
    }

    private int u16(int at) {
        return bytes.getShort(at) & 0xffff;
    }

    private int u24(int at) {
        return u16(at) | (bytes.get(at + 2) & 0xff) << 16;
    }

    /** Loads libwebp, which the jar webp-imageio unpacks at its first use. */
    static final class Libwebp {
        private static final String UNPACKING_FOLDER = "com.luciad.imageio.webp.tmpdir";

        /** A killed process leaves its copy behind. */
        private static final Duration LEFT_BEHIND = Duration.ofDays(1);

        private static final Loaded LOADED = load(CacheFolder::ofProcess);

        /** Default parameters of the decoder, or why there are none. */
        record Loaded(@Nullable ImageReadParam parameters, String failure) {
            ImageReadParam orThrow() throws UnreadableException {
                if (parameters == null) {
                    throw UnreadableException.unknownFormat(
                            "expected libwebp, which decodes WebP, found that it cannot be"
                                    + " loaded: " + failure
                                    + "; set GRAMIAN_CACHE to a writable folder whose files may be executed, pass"
                                    + " webp-imageio and kotlin-stdlib with --jars on Spark, or convert to PNG");
                }
                return parameters;
            }
        }

        /** Returns the parameters for all images: each instance keeps native memory for good. */
        static ImageReadParam parameters() throws UnreadableException {
            return LOADED.orThrow();
        }

        static Loaded load(Supplier<Path> cache) {
            try {
                Path folder = unpackingFolder(cache.get().resolve("webp"));
                if (System.getProperty(UNPACKING_FOLDER) == null) {
                    System.setProperty(UNPACKING_FOLDER, folder.toString());
                }
                return new Loaded(Decoder.reader(ImageFormat.WEBP).getDefaultReadParam(), "");
            } catch (IOException | RuntimeException | LinkageError e) {
                return new Loaded(null, UnreadableException.rootMessage(e));
            }
        }

        private static Path unpackingFolder(Path folder) throws IOException {
            Files.createDirectories(folder);
            if (!Files.isWritable(folder)) {
                throw new IOException("no permission to write to " + folder);
            }
            Instant oldest = Instant.now().minus(LEFT_BEHIND);
            try (Stream<Path> copies = Files.list(folder)) {
                for (Path copy : copies.toList()) {
                    if (Files.getLastModifiedTime(copy).toInstant().isBefore(oldest)) {
                        Files.deleteIfExists(copy);
                    }
                }
            } catch (IOException | UncheckedIOException _) {
                // removed by another process, or in use on Windows
            }
            return folder;
        }
    }
}
