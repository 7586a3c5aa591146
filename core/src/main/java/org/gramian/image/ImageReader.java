package org.gramian.image;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.gramian.image.FileHeader.BmpHeader;
import org.gramian.image.FileHeader.Kind;
import org.gramian.image.FileHeader.PngHeader;
import org.gramian.image.FileHeader.TiffHeader;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;

/**
 * Reads images of every {@link ImageFormat} within limits; safe for use by many threads.
 *
 * <ul>
 *   <li>The content tells the format, not the name of the file.
 *   <li>Sizes are checked before anything is decoded, and every failure of a decoder, also to end in time, becomes a {@link
 *       Reading.Unreadable}: nothing is thrown because of what a file holds.
 *   <li>An image for which memory did not suffice beside those of other threads is decoded again while no other is: only
 *       what fails alone is unreadable for lack of memory.
 *   <li>An image that ends too early or is damaged so that the decoder notices is unreadable, never half an image.
 *   <li>The first image of a file is read: the first frame of an animation (just the part that it paints), the first page of
 *       a TIFF.
 *   <li>EXIF orientation is applied (JPEG, PNG, WebP, TIFF). Transparency is composed over white. Channels of
 *       16 bits are rounded to 8.
 *   <li>Embedded colour profiles and gamma are ignored, and the stored values taken for sRGB, as the libraries do on which
 *       published networks were trained. CMYK becomes RGB by {@code (1−c)(1−k)}.
 * </ul>
 */
public final class ImageReader {
    /** One for the program: all readers share its memory. */
    private static final DecodingPermits TURNS = new DecodingPermits();

    private final ImageLimits limits;

    public ImageReader(ImageLimits limits) {
        this.limits = limits;
    }

    /** Reads the file of an image. */
    public ReadResult read(Path file) {
        return inTurn(() -> guarded(() -> readFile(file)));
    }

    /** Reads an image from the content of its file, which is left as it is. */
    public ReadResult read(byte[] content) {
        return inTurn(() -> readContent(content));
    }

    static ReadResult inTurn(Supplier<ReadResult> reading) {
        try {
            return TURNS.take(reading);
        } catch (OutOfMemoryError e) {
            return UnreadableException.outOfMemory().reading();
        }
    }

    /** Reads an image from where its file lies. */
    public ReadResult read(ImageContent file) {
        return inTurn(() -> guarded(() -> readSized(file)));
    }

    private interface Access {
        ReadResult read() throws IOException;
    }

    private static ReadResult guarded(Access access) {
        try {
            return access.read();
        } catch (NoSuchFileException e) {
            return new Unreadable(Problem.INACCESSIBLE, "expected a file, found none with that name");
        } catch (AccessDeniedException e) {
            return new Unreadable(Problem.INACCESSIBLE, "expected a file that may be read, found permission denied");
        } catch (IOException e) {
            return new Unreadable(
                    Problem.INACCESSIBLE, "expected a file that can be read, found: " + UnreadableException.rootMessage(e));
        }
    }

    private ReadResult readFile(Path file) throws IOException {
        // Asked before opening: opening a pipe would wait for its other end for ever.
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        if (!attributes.isRegularFile()) {
            String kind = attributes.isDirectory() ? "a directory" : "something that is not a regular file";
            return new Unreadable(Problem.INACCESSIBLE, "expected a file, found " + kind);
        }
        return attributes.size() > limits.bytes()
                ? tooLarge(file, attributes.size())
                : readContent(Files.readAllBytes(file));
    }

    /** A file of that size is often a video, which no larger limit helps. */
    private ReadResult tooLarge(Path file, long size) throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            byte[] first = content.readNBytes(UnsupportedFormat.MAGIC_BYTES);
            return UnsupportedFormat.of(first).isPresent() ? readContent(first) : tooManyBytes(size);
        }
    }

    private ReadResult readSized(ImageContent file) throws IOException {
        long size = file.size();
        return size > limits.bytes() ? tooManyBytes(size) : readContent(file.bytes());
    }

    private ReadResult readContent(byte[] content) {
        if (content.length == 0) {
            return new Unreadable(Problem.EMPTY, "expected an image, found an empty file");
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
                                    .orElse("content that begins like none of them"));
        }
        SizeLimits bounds = new SizeLimits(format.get(), limits, content.length);
        try {
            return switch (format.get()) {
                case JPEG -> JpegImage.read(content, bounds);
                case WEBP -> WebpImage.read(content, bounds);
                default -> decode(content, bounds);
            };
        } catch (UnreadableException e) {
            return e.reading();
        } catch (RuntimeException e) {
            return new Unreadable(
                    Problem.CORRUPT,
                    "expected a " + format.get() + " that can be decoded, found: " + UnreadableException.rootMessage(e));
        }
    }

    /** Decodes by one of Java's image readers. */
    static ReadResult decode(byte[] content, SizeLimits bounds) throws UnreadableException {
        FileHeader prepared = switch (bounds.format()) {
            case PNG -> PngHeader.prepare(content, bounds);
            case BMP -> BmpHeader.prepare(content, bounds);
            case WEBP -> WebpHeader.prepare(content, bounds);
            case TIFF -> TiffHeader.prepare(content);
            case GIF, JPEG -> FileHeader.of(content);
        };
        try (Decoder decoder = Decoder.of(bounds.format(), prepared.content(), prepared.complete())) {
            BufferedImage image = decoder.image(bounds);
            return decoder.guarded(() -> readable(image, prepared, bounds.format()));
        }
    }

    private static ReadResult readable(BufferedImage image, FileHeader prepared, ImageFormat format)
            throws UnreadableException {
        SampleConverter samples = new SampleConverter(image);
        Kind kind = prepared.kind().orElseGet(() -> kind(samples, format));
        Orientation orientation = prepared.orientation();
        ImageInfo origin = new ImageInfo(
                format, kind.colour(), kind.bits(), image.getWidth(), image.getHeight(), orientation.number());
        return new ReadResult.Readable(orientation.upright(samples.image()), origin);
    }

    private static Kind kind(SampleConverter samples, ImageFormat format) {
        boolean gray = format != ImageFormat.GIF && samples.isGrayRamp();
        return new Kind(gray ? ImageInfo.Colour.GRAY : samples.colour(), samples.bits());
    }

    private Unreadable tooManyBytes(long bytes) {
        return new Unreadable(
                Problem.TOO_LARGE, "expected at most " + limits.bytes() + " bytes, found a file of " + bytes);
    }

    /**
     * Lets many threads decode at once, and one alone where memory did not suffice for all: so that the number of
     * threads does not decide which images can be read.
     *
     * <p>Only decoding takes turns. Images that were decoded before stay in memory while their owners use them.
     */
    static final class DecodingPermits {
        /** Fair, so that a thread that waits for exclusive decoding is not starved. */
        private final ReadWriteLock lock = new ReentrantReadWriteLock(true);

        /**
         * Does a piece of work, again and alone if it runs out of memory beside others.
         *
         * @throws OutOfMemoryError if memory does not suffice even then
         */
        <T> T take(Supplier<T> work) {
            lock.readLock().lock();
            try {
                return work.get();
            } catch (OutOfMemoryError crowded) {
                // What it held is garbage now; below it is done again when no other decodes.
            } finally {
                lock.readLock().unlock();
            }
            lock.writeLock().lock();
            try {
                return work.get();
            } finally {
                lock.writeLock().unlock();
            }
        }
    }
}
