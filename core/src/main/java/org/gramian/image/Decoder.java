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
import javax.imageio.ImageReader;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.event.IIOReadProgressListener;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult.Problem;
import org.jspecify.annotations.Nullable;

/**
 * One of Java's image readers at work on one file, behind a wall: whatever it throws comes out as an {@link
 * UnreadableException}, and damage that it passes over with a warning does too.
 */
final class Decoder implements AutoCloseable {
    /** Enough to find the first that matters; a hostile file can cause millions. */
    private static final int MOST_WARNINGS = 100;

    private final ImageFormat format;
    private final boolean complete;
    private final ImageReader reader;
    private final MemoryInput input;
    private final List<String> warnings = new ArrayList<>();

    private Decoder(ImageFormat format, ImageReader reader, byte[] content, boolean complete) {
        this.format = format;
        this.complete = complete;
        this.reader = reader;
        input = new MemoryInput(content);
        reader.addIIOReadWarningListener((_, warning) -> {
            if (warnings.size() < MOST_WARNINGS) {
                warnings.add(warning);
            }
        });
        reader.setInput(input, false, true);
    }

    /**
     * A decoder by the reader that forgives most.
     *
     * @param complete whether the file is known to go on to the end of the image
     */
    static Decoder of(ImageFormat format, byte[] content, boolean complete) {
        return new Decoder(format, Readers.forgiving(format), content, complete);
    }

    /** A decoder of a JPEG by the reader that is quickest, if it is there. */
    static Optional<Decoder> quick(byte[] content, boolean complete) {
        return Readers.quickJpeg().map(reader -> new Decoder(ImageFormat.JPEG, reader, content, complete));
    }

    /** A step that runs foreign code over hostile data. */
    interface Step<T> {
        T run() throws IOException;
    }

    /** Decodes to pixels, after the header's size, tiles and kind of samples were found to be in order. */
    BufferedImage image(SizeLimits bounds) throws UnreadableException {
        return guarded(() -> {
            bounds.checkSize(reader.getWidth(0), reader.getHeight(0));
            bounds.checkSize(reader.getTileWidth(0), reader.getTileHeight(0));
            ImageTypeSpecifier type = reader.getImageTypes(0).next();
            SampleConverter.check(type.getColorModel(), type.getSampleModel(1, 1));
            input.allowPixels();
            RowCount rows = new RowCount();
            if (format == ImageFormat.GIF) {
                reader.addIIOReadProgressListener(rows);
            }
            BufferedImage image = reader.read(0);
            if (format == ImageFormat.GIF && !rows.complete()) {
                throw new UnreadableException(
                        Problem.TRUNCATED, "expected " + image.getHeight() + " rows, found data for fewer");
            }
            return image;
        });
    }

    /** Decodes to components, before any conversion of colours; of sizes that were checked before. */
    Raster raster(int width, int height) throws UnreadableException {
        return guarded(() -> {
            if (reader.getWidth(0) != width || reader.getHeight(0) != height) {
                throw new UnreadableException(Problem.CORRUPT, "expected one frame, found several of different sizes");
            }
            input.allowPixels();
            return reader.readRaster(0, null);
        });
    }

    /**
     * Runs a step, and turns all that can come of hostile data into an {@link UnreadableException}, but for a lack of memory,
     * which {@link ImageReader} deals with for all steps alike. What is made of the decoder's result belongs in a step too:
     * it may be of an unforeseen kind.
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

    /** Whether the reader has warned of nothing, harmless or not. */
    boolean isContent() {
        return warnings.isEmpty();
    }

    private UnreadableException unreadable(Throwable failure) {
        boolean ranOut = !complete && input.ended();
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnreadableException found) {
                return found;
            }
            if (cause instanceof OutOfMemoryError scarce) {
                throw scarce; // wrapped by a decoder, but a lack of memory like any other
            }
            ranOut |= cause instanceof EOFException;
        }
        return new UnreadableException(
                ranOut ? Problem.TRUNCATED : Problem.CORRUPT,
                "expected a " + format + " that can be decoded, found " + (ranOut ? "truncated data: " : "damage: ")
                        + UnreadableException.rootMessage(failure));
    }

    /**
     * Refuses an image over a warning that means damage. libjpeg reports only its first one: where that is harmless (spare
     * bytes, an unknown version of JFIF), it is silent about an end that comes too early, so that the end marker must be
     * there.
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
            throw new UnreadableException(
                    Problem.TRUNCATED,
                    "expected a JPEG with an end marker, since the decoder's warning may hide an early end, found"
                            + " none: "
                            + QuotedText.bare(hiding.get()));
        }
    }

    @Override
    public void close() {
        reader.dispose();
    }

    /** Notices whether a reader got to the last row, for one that says nothing when it does not. */
    private static final class RowCount implements IIOReadProgressListener {
        private float percentage;

        boolean complete() {
            return percentage >= 100;
        }

        @Override
        public void imageProgress(ImageReader source, float percentageDone) {
            percentage = percentageDone;
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

    /** Which of Java's image readers decodes what. */
    private static final class Readers {
        private static final String TWELVE_MONKEYS = "com.twelvemonkeys.";
        private static final String JDK = "com.sun.imageio.";

        /** Found once: looking for it makes a reader of every kind. */
        private static final Optional<ImageReaderSpi> QUICK_JPEG = provider(JDK, ImageFormat.JPEG);

        private Readers() {}

        /** TwelveMonkeys' where there is one, since it forgives more of what cameras write, else the JDK's. */
        static ImageReader forgiving(ImageFormat format) {
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
         * The JDK's reader of JPEGs, if it is there. TwelveMonkeys' decodes by it too, but looks at every segment before and hands
         * all bytes through a stream of its own, which took a fifth of the time (341×256 pixels: 1.1 against 1.4 ms).
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
