package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.written;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.gramian.image.ReadResult.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Images of a few pixels with megabytes of data that decode to nothing. */
final class DecodingWorkTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final int BYTES = FULL ? 20_000_000 : 4_000_000;

    private static void assertRejectedFast(byte[] file) {
        long start = System.nanoTime();
        assertThat(refused(file).problem()).isEqualTo(Problem.TOO_LARGE);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
    }

    /** 20 MB took 24 to 40 s. */
    @ParameterizedTest
    @CsvSource({"8, 2", "8, 8", "4000, 2"})
    void rejectsGifOfClearCodes(int side, int codeBits) {
        assertRejectedFast(HostileImages.gif(side, codeBits, 1 << codeBits, BYTES));
        assertThat(new ImageReader(ImageLimits.DEFAULT).pixels(HostileImages.gif(side, codeBits, 1 << codeBits, BYTES)))
                .isZero();
    }

    @Test
    void rejectsGifWithDataAfterLastPixel() {
        assertRejectedFast(HostileImages.gif(8, 8, 0, BYTES));
    }

    /** Encoders that avoided a patent wrote a clear code for every 254 pixels. */
    @Test
    void readsGifWithFewClearCodes() {
        byte[] plain = HostileImages.gif(8, 8, 0, 100);
        assertThat(read(plain).image().width()).isEqualTo(8);
        byte[] lively = written(image(lively(300, 200), BufferedImage.TYPE_3BYTE_BGR), "gif");
        assertThat(read(lively).image().width()).isEqualTo(300);
    }

    /** Empty deflate blocks, and CCITT codes without a row. */
    @ParameterizedTest
    @ValueSource(ints = {8, 2, 3, 4})
    void rejectsTiffOfNothing(int compression) {
        assertRejectedFast(HostileImages.tiff(
                8, compression, compression == 8 ? HostileImages.emptyBlocks(BYTES) : new byte[BYTES]));
    }

    @Test
    void rejectsPngOfNothing() {
        assertRejectedFast(PngFile.of(8, 8, 8, 0)
                .chunk("IDAT", HostileImages.emptyBlocks(BYTES))
                .chunk("IEND")
                .content());
        PngFile many = PngFile.of(8, 8, 8, 0);
        for (int i = 0; i < BYTES / 12; i++) {
            many.chunk("IDAT");
        }
        assertRejectedFast(many.chunk("IEND").content());
    }

    /** 24 kB of 500×500 pixels took 3.3 s; a row of pixels is a row of blocks. */
    @ParameterizedTest
    @CsvSource({"500, 500, 1900", "60000, 1, 1000"})
    void rejectsJpegOfManyScans(int width, int height, int scans) {
        assertRejectedFast(HostileImages.jpeg(width, height, scans));
        assertThat(read(HostileImages.jpeg(width, height, 50)).image().width()).isEqualTo(width);
    }

    /** 65,536 groups of prefix codes, of which 256 pixels use one. */
    @Test
    void rejectsWebpOfManyPrefixCodes() {
        assertRejectedFast(HostileImages.webpOfUnusedGroups(16));
    }

    /** As many groups, each used by 16 pixels of a megapixel: the most memory that groups can take. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void prefixCodesOfWebpTakeBoundedMemory() throws IOException {
        assumeTrue(FULL, "under gramian.full");
        byte[] file = HostileImages.webpOfGroups(1024);
        Files.writeString(Path.of("/proc/self/clear_refs"), "5"); // the peak begins again
        long before = peak();
        assertThat(read(file).image().width()).isEqualTo(1024);
        assertThat(peak() - before).isLessThan(420_000);
    }

    /** Returns the peak of resident memory in KiB. */
    private static long peak() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .sum();
    }
}
