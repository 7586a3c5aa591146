package org.gramian.image;

import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.imageio.ImageIO;
import javax.imageio.ImageReadParam;
import javax.imageio.ImageReader;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.event.IIOReadProgressListener;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.WebpImage.Libwebp;
import org.jspecify.annotations.Nullable;

/**
 * Runs one of Java's image readers on one file. Every exception of the reader, and every warning that means damage, becomes an
 * {@link UnreadableException}.
 */
final class Decoder implements AutoCloseable {
    /** A malicious file can cause millions. */
    private static final int MOST_WARNINGS = 100;

    private final ImageFormat format;
    private final boolean complete;
    private final ImageReader reader;
    private final MemoryInput input;
    private final RowProgress progress;
    private final List<String> warnings = new ArrayList<>();

    private Decoder(SizeLimits bounds, ImageReader reader, byte[] content, boolean complete) {
        this.format = bounds.format();
        this.complete = complete;
        this.reader = reader;
        input = new MemoryInput(content, bounds.time());
        progress = new RowProgress(input);
        reader.addIIOReadProgressListener(progress);
        reader.addIIOReadWarningListener((_, warning) -> {
            if (warnings.size() < MOST_WARNINGS) {
                warnings.add(warning);
            }
        });
        reader.setInput(input, false, true);
    }

    /**
     * Returns a decoder with the most tolerant reader.
     *
     * @param complete whether the file is known to have the end of the image
     */
    static Decoder tolerant(SizeLimits bounds, byte[] content, boolean complete) {
        return new Decoder(bounds, Readers.tolerant(bounds.format()), content, complete);
    }

    /** Returns a new reader of a format. */
    static ImageReader reader(ImageFormat format) {
        return Readers.tolerant(format);
    }

    /** Returns a decoder with the fastest reader of JPEGs, if available. */
    static Optional<Decoder> fastJpeg(SizeLimits bounds, byte[] content, boolean complete) {
        return Readers.quickJpeg().map(reader -> new Decoder(bounds, reader, content, complete));
    }

    /** A step that runs a reader on untrusted data. */
    interface Step<T> {
        T run() throws IOException;
    }

    /** Checks size, tiles and sample type, and decodes to pixels. */
    BufferedImage image(SizeLimits bounds) throws UnreadableException {
        @Nullable ImageReadParam parameters = format == ImageFormat.WEBP ? Libwebp.parameters() : null;
        return guarded(() -> {
            bounds.checkSize(reader.getWidth(0), reader.getHeight(0));
            bounds.checkSize(reader.getTileWidth(0), reader.getTileHeight(0));
            ImageTypeSpecifier type = reader.getImageTypes(0).next();
            SampleConverter.check(type.getColorModel(), type.getSampleModel(1, 1));
            input.allowPixels();
            input.checkTime();
            BufferedImage image = reader.read(0, parameters);
            input.checkTime(); // an aborted reader returns what it has
            if (format == ImageFormat.GIF && !progress.complete()) {
                throw UnreadableException.truncated("expected " + image.getHeight() + " rows, found data for fewer");
            }
            return image;
        });
    }

    /** Decodes to components, without colour conversion; the size was checked before. */
    Raster raster(int width, int height) throws UnreadableException {
        return guarded(() -> {
            if (reader.getWidth(0) != width || reader.getHeight(0) != height) {
                throw UnreadableException.corrupt("expected one frame, found several of different sizes");
            }
            input.allowPixels();
            return reader.readRaster(0, null);
        });
    }

    /**
     * Runs a step and turns every failure into an {@link UnreadableException}, except lack of memory, which {@link ImageReader}
     * handles. Conversions of the result belong in a step too: its type may be unexpected.
     */
    <T> T guarded(Step<T> step) throws UnreadableException {
        try {
            T result = step.run();
            input.checkAllowance();
            checkWarnings();
            return result;
        } catch (IOException | RuntimeException | StackOverflowError | AssertionError | InternalError e) {
            input.checkAllowance();
            throw unreadable(e);
        }
    }

    /** Returns whether the reader gave no warning at all. */
    boolean hasNoWarnings() {
        return warnings.isEmpty();
    }

    private UnreadableException unreadable(Throwable failure) {
        boolean ranOut = !complete && input.ended();
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnreadableException found) {
                return found;
            }
            if (cause instanceof OutOfMemoryError scarce) {
                throw scarce; // wrapped by a reader
            }
            ranOut |= cause instanceof EOFException || libwebpRanOut(cause);
        }
        return new UnreadableException(
                ranOut ? Problem.TRUNCATED : Problem.CORRUPT,
                "expected a " + format + " that can be decoded, found " + (ranOut ? "truncated data: " : "damage: ")
                        + UnreadableException.rootMessage(failure));
    }

    /** Returns whether an exception is that of libwebp's status for data that end too early. */
    private boolean libwebpRanOut(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        return format == ImageFormat.WEBP && (message.endsWith("NotEnoughData") || message.endsWith("Suspended"));
    }

    /**
     * Rejects an image with a warning that means damage. libjpeg reports only the first warning: if that is harmless (extraneous
     * bytes, an unknown version of JFIF), a premature end may be hidden, so the end marker is required.
     */
    private void checkWarnings() throws UnreadableException {
        for (String warning : warnings) {
            boolean spare = warning.contains("extraneous bytes") && complete;
            if (warning.startsWith("Out-of-sequence") || (warning.startsWith("Corrupt JPEG data") && !spare)) {
                boolean cut = warning.contains("premature end") || (format == ImageFormat.JPEG && !complete);
                throw new UnreadableException(
                        cut ? Problem.TRUNCATED : Problem.CORRUPT,
                        "expected a " + format + " with whole image data, found: " + QuotedText.bare(warning));
            }
        }
        Optional<String> hiding = warnings.stream()
                .filter(warning -> !warning.startsWith("Truncated File")) // the JDK's own: only the marker is missing
                .findFirst();
        if (format == ImageFormat.JPEG && !complete && hiding.isPresent()) {
            throw UnreadableException.truncated(
                    "expected a JPEG with an end marker, since the decoder's warning may hide an early end, found"
                            + " none: "
                            + QuotedText.bare(hiding.get()));
        }
    }

    @Override
    public void close() {
        reader.dispose();
    }

    /**
     * Aborts the reader when its time is over, also while it reads no bytes, and detects whether it reached the last row, which the
     * GIF reader does not report.
     */
    private static final class RowProgress implements IIOReadProgressListener {
        private final MemoryInput input;
        private float percentage;

        RowProgress(MemoryInput input) {
            this.input = input;
        }

        boolean complete() {
            return percentage >= 100;
        }

        @Override
        public void imageProgress(ImageReader source, float percentageDone) {
            percentage = percentageDone;
            if (input.isOverdrawn()) { // once per row, or in a JPEG for each twentieth
                source.abort();
            }
        }

        @Override
        public void sequenceStarted(ImageReader source, int minIndex) {}

        @Override
        public void sequenceComplete(ImageReader source) {}

        @Override
        public void imageStarted(ImageReader source, int imageIndex) {}

        @Override
        public void imageComplete(ImageReader source) {}

        @Override
        public void thumbnailStarted(ImageReader source, int imageIndex, int thumbnailIndex) {}

        @Override
        public void thumbnailProgress(ImageReader source, float percentageDone) {}

        @Override
        public void thumbnailComplete(ImageReader source) {}

        @Override
        public void readAborted(ImageReader source) {}
    }

    /** Selection of Java's image readers. */
    private static final class Readers {
        private static final String TWELVE_MONKEYS = "com.twelvemonkeys.";
        private static final String JDK = "com.sun.imageio.";

        /** Looked up once: the lookup instantiates readers of all formats. */
        private static final Optional<ImageReaderSpi> QUICK_JPEG = provider(JDK, ImageFormat.JPEG);

        private Readers() {}

        /** Returns the reader of TwelveMonkeys, which tolerates more errors of cameras, else the JDK's. */
        static ImageReader tolerant(ImageFormat format) {
            Iterator<ImageReader> readers = ImageIO.getImageReadersByFormatName(name(format));
            @Nullable ImageReader first = null;
            while (readers.hasNext()) {
                ImageReader reader = readers.next();
                if (reader.getClass().getName().startsWith(TWELVE_MONKEYS)) {
                    return reader;
                }
                first = first == null ? reader : first;
            }
            if (first == null) {
                throw new IllegalStateException("expected a reader of " + format + " on the class path, found none");
            }
            return first;
        }

        /**
         * Returns the JDK's reader of JPEGs. TwelveMonkeys delegates to it, with an overhead of a fifth of the time (341×256 pixels:
         * 1.1 against 1.4 ms).
         */
        static Optional<ImageReader> quickJpeg() {
            return QUICK_JPEG.map(provider -> {
                try {
                    return provider.createReaderInstance();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        private static Optional<ImageReaderSpi> provider(String maker, ImageFormat format) {
            Iterator<ImageReaderSpi> all =
                    IIORegistry.getDefaultInstance().getServiceProviders(ImageReaderSpi.class, true);
            while (all.hasNext()) {
                ImageReaderSpi provider = all.next();
                if (provider.getClass().getName().startsWith(maker)
                        && List.of(provider.getFormatNames()).contains(name(format))) {
                    return Optional.of(provider);
                }
            }
            return Optional.empty();
        }

        private static String name(ImageFormat format) {
            return format.name().toLowerCase(Locale.ROOT);
        }
    }
}
