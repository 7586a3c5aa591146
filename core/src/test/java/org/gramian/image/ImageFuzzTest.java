package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.resource;
import static org.gramian.image.TestImages.smooth;
import static org.gramian.image.TestImages.tiff;
import static org.gramian.image.TestImages.written;

import com.sun.management.ThreadMXBean;
import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Timeout;

/** Damages 2,000 files: each still ends in an image or in a reason, soon and without much memory. */
@Timeout(300) // of all repetitions the slowest; a decoder that hangs must not hang the build
final class ImageFuzzTest {
    /** With the repetitions of the test this makes 2,000. */
    private static final int FILES = 100;

    private static final ImageLimits LIMITS = new ImageLimits(1 << 20, 4_000_000);

    /** What {@link ImageLimits} promises for each pixel, and what decoders set aside whatever the size. */
    private static final long MAX_BYTES = 20 * LIMITS.pixels() + (32 << 20);

    private static final double MAX_SECONDS = 5;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final List<Mutation> MUTATIONS = List.of(Mutation.values());
    private static final List<byte[]> ORIGINALS = originals();

    @RandomTest(times = 20)
    void damagedFileGivesImageOrReason(Seed seed) {
        SplittableRandom random = seed.random();
        ImageReader reader = new ImageReader(LIMITS);
        for (int i = 0; i < FILES; i++) {
            byte[] original = ORIGINALS.get(random.nextInt(ORIGINALS.size()));
            Mutation mutation = MUTATIONS.get(random.nextInt(MUTATIONS.size()));
            byte[] mutant = mutation.apply(original, ORIGINALS, random);
            long bytes = THREADS.getCurrentThreadAllocatedBytes();
            long nanoseconds = THREADS.getCurrentThreadCpuTime();
            ReadResult reading;
            try {
                reading = reader.read(mutant);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("file " + i + ", " + mutation + " " + shown(mutant), e);
            }
            bytes = THREADS.getCurrentThreadAllocatedBytes() - bytes;
            double seconds = (THREADS.getCurrentThreadCpuTime() - nanoseconds) / 1e9;
            String what = "file " + i + ", " + mutation + ": " + reading + " " + shown(mutant);
            assertThat(seconds).as(what).isLessThan(MAX_SECONDS);
            assertThat(bytes).as(what).isLessThan(MAX_BYTES);
            check(reading, what);
        }
    }

    private static void check(ReadResult reading, String what) {
        switch (reading) {
            case Readable(Image image, ImageInfo origin) -> {
                assertThat((long) image.width() * image.height()).as(what).isLessThanOrEqualTo(LIMITS.pixels());
                assertThat((long) origin.width() * origin.height())
                        .as(what)
                        .isEqualTo((long) image.width() * image.height());
            }
            case Unreadable unreadable ->
                assertThat(unreadable.reason()).as(what).isNotBlank().hasSizeLessThan(400);
        }
    }

    private static String shown(byte[] file) {
        return HexFormat.of().formatHex(file, 0, Math.min(file.length, 400));
    }

    private static List<byte[]> originals() {
        BufferedImage colour = image(lively(40, 30), BufferedImage.TYPE_3BYTE_BGR);
        BufferedImage even = image(smooth(64, 48), BufferedImage.TYPE_3BYTE_BGR);
        BufferedImage gray = image(smooth(50, 20), BufferedImage.TYPE_BYTE_GRAY);
        BufferedImage deep = image(smooth(30, 20), BufferedImage.TYPE_USHORT_GRAY);
        BufferedImage alpha = image(lively(25, 30), BufferedImage.TYPE_4BYTE_ABGR);
        BufferedImage indexed = image(lively(33, 21), BufferedImage.TYPE_BYTE_INDEXED);
        BufferedImage bilevel = image(lively(35, 17), BufferedImage.TYPE_BYTE_BINARY);
        byte[] inks = jpeg(Raster.createInterleavedRaster(DataBuffer.TYPE_BYTE, 40, 24, 4, null));
        List<byte[]> files = new ArrayList<>(List.of(
                jpeg(even, false),
                jpeg(even, true),
                jpeg(gray, false),
                jpeg(gray, true),
                JpegFile.withOrientation(jpeg(even, false), 6, ByteOrder.BIG_ENDIAN),
                inks,
                JpegFile.withAdobe(inks, 2)));
        Stream.of(colour, gray, deep, alpha, indexed, bilevel).forEach(image -> {
            files.add(written(image, "png"));
            Stream.of("", "LZW", "Deflate", "PackBits").forEach(way -> files.add(tiff(image, way)));
        });
        Stream.of(colour, gray, indexed, bilevel).forEach(image -> {
            files.add(written(image, "bmp"));
            files.add(written(image, "gif"));
        });
        files.add(tiff(even, "JPEG"));
        files.add(tiff(bilevel, "CCITT T.6"));
        Stream.of("animated", "lossless", "lossless-alpha", "lossy", "lossy-alpha", "profile", "turned")
                .forEach(name -> files.add(resource(name + ".webp")));
        Stream.of("alpha-compressed-gradient", "alpha-raw-vertical", "animated", "eight-partitions", "four-segments")
                .forEach(name -> files.add(resource("lossy/" + name + ".webp")));
        Stream.of("sharp-7", "simple-sharp", "noise").forEach(name -> files.add(resource("lossy/" + name + ".webp")));
        return List.copyOf(files);
    }
}
