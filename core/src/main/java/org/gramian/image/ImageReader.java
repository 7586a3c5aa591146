package org.gramian.image;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.gramian.basis.RegularFile;
import org.gramian.basis.RegularFile.NotRegularException;
import org.gramian.image.FileHeader.BmpHeader;
import org.gramian.image.FileHeader.GifHeader;
import org.gramian.image.FileHeader.Kind;
import org.gramian.image.FileHeader.PngHeader;
import org.gramian.image.FileHeader.TiffHeader;
import org.gramian.image.ImageFormat.UnsupportedFormat;
import org.gramian.image.JpegImage.JpegHeader;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;

/**
 * Reads images of every {@link ImageFormat} within limits; thread-safe.
 *
 * <ul>
 *   <li>The format is detected by content, not by file name.
 *   <li>Sizes are checked before decoding. Every failure or timeout of a decoder becomes a {@link ReadResult.Unreadable}; no
 *       file content causes an exception.
 *   <li>If memory is insufficient, the image is decoded again while no other thread decodes.
 *   <li>A truncated or damaged image is unreadable, never partially decoded.
 *   <li>Only the first frame of an animation (the area that it paints) and the first page of a TIFF are read.
 *   <li>EXIF orientation is applied (JPEG, PNG, WebP, TIFF). Transparency is composed over white. Channels of
 *       16 bits are rounded to 8.
 *   <li>Colour profiles and gamma are ignored and values are used as sRGB, as in the libraries that published networks were
 *       trained with. CMYK becomes RGB by {@code (1−c)(1−k)}.
 * </ul>
 *
 * @since 0.1
 */
public final class ImageReader {
    /** Shared by all readers, as is the heap. */
    private static final DecodingPermits PERMITS = new DecodingPermits();

    private final ImageLimits limits;

    /** Creates a reader with limits. */
    public ImageReader(ImageLimits limits) {
        this.limits = limits;
    }

    /** Reads an image file. */
    public ReadResult read(Path file) {
        return withPermit(() -> guarded(() -> readFile(file)));
    }

    /** Reads an image from the content of its file. */
    public ReadResult read(byte[] content) {
        return read(content, ImageReader::never);
    }

    /**
     * Reads an image from the content of its file until it is cancelled.
     *
     * @param cancelled whether the result is no longer wanted; called often, by this thread. A cancelled image is unreadable. Only
     *     WebP is decoded to the end, in about 0.02 µs per pixel.
     */
    public ReadResult read(byte[] content, BooleanSupplier cancelled) {
        return withPermit(() -> readContent(content, cancelled));
    }

    /**
     * Returns the number of pixels of an image by its header, without decoding it, or 0 if it is unreadable or exceeds the limits. The
     * time to decode an image grows with its pixels, not with its bytes: 58 bytes can code 49 megapixels.
     */
    public long pixels(byte[] content) {
        Optional<ImageFormat> format = ImageFormat.of(content);
        if (format.isEmpty() || content.length > limits.bytes()) {
            return 0;
        }
        DecodingLimits bounds = new DecodingLimits(format.get(), limits, content.length, ImageReader::never);
        try {
            if (format.get() == ImageFormat.JPEG) {
                JpegHeader.Frame frame = JpegHeader.frame(content);
                bounds.checkSize(frame.width(), frame.height());
                return (long) frame.width() * frame.height();
            }
            FileHeader prepared = prepare(content, bounds);
            try (Decoder decoder = Decoder.tolerant(bounds, prepared.content(), prepared.complete())) {
                return decoder.pixels(bounds);
            }
        } catch (UnreadableException | RuntimeException _) {
            return 0;
        }
    }

    private static boolean never() {
        return false;
    }

    static ReadResult withPermit(Supplier<ReadResult> reading) {
        try {
            return PERMITS.take(reading);
        } catch (OutOfMemoryError e) {
            return UnreadableException.outOfMemory().reading();
        }
    }

    /** Reads an image from another storage. */
    public ReadResult read(ImageContent file) {
        return withPermit(() -> guarded(() -> readSized(file)));
    }

    /** An image file outside the local file system. */
    public interface ImageContent {
        /**
         * Returns the size in bytes.
         *
         * @throws java.nio.file.NoSuchFileException if there is none
         * @throws java.nio.file.AccessDeniedException if it may not be read
         * @throws IOException if it cannot be read for another reason
         */
        long size() throws IOException;

        /** Returns all bytes; throws the exceptions of {@link #size}. */
        byte[] bytes() throws IOException;
    }

    private interface Access {
        ReadResult read() throws IOException;
    }

    private static ReadResult guarded(Access access) {
        try {
            return access.read();
        } catch (NoSuchFileException e) {
            return new Unreadable(Problem.INACCESSIBLE, "no such file");
        } catch (AccessDeniedException e) {
            return new Unreadable(Problem.INACCESSIBLE, "permission denied");
        } catch (NotRegularException e) {
            return new Unreadable(Problem.INACCESSIBLE, e.getReason());
        } catch (IOException e) {
            return new Unreadable(
                    Problem.INACCESSIBLE,
                    "expected a file that can be read, found: " + UnreadableException.rootMessage(e));
        }
    }

    private ReadResult readFile(Path file) throws IOException {
        long size = RegularFile.attributes(file).size();
        return size > limits.bytes() ? tooManyBytes(size) : readContent(Files.readAllBytes(file), ImageReader::never);
    }

    private ReadResult readSized(ImageContent file) throws IOException {
        long size = file.size();
        return size > limits.bytes() ? tooManyBytes(size) : readContent(file.bytes(), ImageReader::never);
    }

    private ReadResult readContent(byte[] content, BooleanSupplier cancelled) {
        if (content.length == 0) {
            return new Unreadable(Problem.EMPTY, "empty file");
        }
        if (content.length > limits.bytes()) {
            return tooManyBytes(content.length);
        }
        Optional<ImageFormat> format = ImageFormat.of(content);
        if (format.isEmpty()) {
            return new Unreadable(
                    Problem.UNKNOWN_FORMAT,
                    "expected a JPEG, PNG, GIF, BMP, TIFF or WebP, found "
                            + UnsupportedFormat.of(content)
                                    .map(UnsupportedFormat::advice)
                                    .orElse("none of these formats"));
        }
        DecodingLimits bounds = new DecodingLimits(format.get(), limits, content.length, cancelled);
        try {
            return switch (format.get()) {
                case JPEG -> JpegImage.read(content, bounds);
                default -> decode(content, bounds);
            };
        } catch (UnreadableException e) {
            return e.reading();
        } catch (RuntimeException e) {
            return new Unreadable(
                    Problem.CORRUPT,
                    "expected a " + format.get() + " that can be decoded, found: "
                            + UnreadableException.rootMessage(e));
        }
    }

    static ReadResult decode(byte[] content, DecodingLimits bounds) throws UnreadableException {
        FileHeader prepared = prepare(content, bounds);
        try (Decoder decoder = Decoder.tolerant(bounds, prepared.content(), prepared.complete())) {
            BufferedImage image = decoder.image(bounds);
            return decoder.guarded(() -> readable(image, prepared, bounds.format()));
        }
    }

    private static FileHeader prepare(byte[] content, DecodingLimits bounds) throws UnreadableException {
        return switch (bounds.format()) {
            case PNG -> PngHeader.prepare(content, bounds);
            case BMP -> BmpHeader.prepare(content, bounds);
            case WEBP -> WebpImage.prepare(content, bounds);
            case TIFF -> TiffHeader.prepare(content);
            case GIF -> GifHeader.prepare(content);
            case JPEG -> FileHeader.of(content);
        };
    }

    private static ReadResult readable(BufferedImage image, FileHeader prepared, ImageFormat format)
            throws UnreadableException {
        SampleConverter samples = new SampleConverter(image);
        Kind kind = prepared.kind().orElseGet(() -> new Kind(samples.colour(), samples.bits()));
        Orientation orientation = prepared.orientation();
        ImageInfo origin = new ImageInfo(
                format, kind.colour(), kind.bits(), image.getWidth(), image.getHeight(), orientation.number());
        return new ReadResult.Readable(orientation.upright(samples.image()), origin);
    }

    private Unreadable tooManyBytes(long bytes) {
        return new Unreadable(
                Problem.TOO_LARGE, "expected at most " + limits.bytes() + " bytes, found a file of " + bytes);
    }

    /**
     * Lets many threads decode concurrently, or one exclusively after it ran out of memory, so that the number of threads does not
     * decide which images can be read.
     */
    static final class DecodingPermits {
        private static final int ALL = Integer.MAX_VALUE;

        /** Fair, so that exclusive decoding does not starve. A read-write lock may keep a lock that it ran out of memory for. */
        private final Semaphore permits = new Semaphore(ALL, true);

        /**
         * Runs a function, and again exclusively if it runs out of memory.
         *
         * @throws OutOfMemoryError if memory does not suffice even then
         */
        <T> T take(Supplier<T> work) {
            permits.acquireUninterruptibly();
            try {
                return work.get();
            } catch (OutOfMemoryError crowded) {
                // retried below without concurrent decoding
            } finally {
                permits.release();
            }
            permits.acquireUninterruptibly(ALL);
            try {
                return work.get();
            } finally {
                permits.release(ALL);
            }
        }
    }

    /**
     * Limits on files and images, against decompression bombs.
     *
     * <p>Decoding takes up to about 20 bytes per pixel besides the file: at most 8 for four channels of 16 bits, 3 for the result, 3
     * for a rotation, and the decoder's own.
     *
     * @param bytes most bytes of a file
     * @param pixels most pixels of an image, checked against the header before anything is decoded
     */
    public record ImageLimits(long bytes, long pixels) {
        /** 256 MiB and 100 megapixels (300 MB decoded). */
        public static final ImageLimits DEFAULT = new ImageLimits(256L << 20, 100_000_000L);

        /** Largest Java array. */
        private static final long MAX_BYTES = Integer.MAX_VALUE - 8;

        public ImageLimits {
            if (bytes < 1 || bytes > MAX_BYTES || pixels < 1 || pixels > MAX_BYTES / 3) {
                throw new IllegalArgumentException("expected limits of 1 to " + MAX_BYTES + " bytes and 1 to "
                        + MAX_BYTES / 3 + " pixels, found " + bytes + " bytes and " + pixels + " pixels");
            }
        }
    }
}
