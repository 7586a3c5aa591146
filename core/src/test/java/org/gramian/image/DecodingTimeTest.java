package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.resource;
import static org.gramian.image.TestImages.tiff;
import static org.gramian.image.TestImages.written;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.JpegImage.JpegHeader;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small files that would take long to decode are refused or decoded fast, and decoding stops when it is cancelled. */
final class DecodingTimeTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");
    private static final Duration FAST = Duration.ofSeconds(2);
    private static final BufferedImage LIVELY = image(lively(60, 44), BufferedImage.TYPE_3BYTE_BGR);

    /** Inserts many segments without a body behind the first two bytes. */
    private static byte[] withSegments(byte[] jpeg, int marker, int count) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.write(jpeg, 0, 2);
        byte[] segment = {(byte) 0xff, (byte) marker, 0, 2};
        for (int i = 0; i < count; i++) {
            file.writeBytes(segment);
        }
        file.write(jpeg, 2, jpeg.length - 2);
        return file.toByteArray();
    }

    /** 100,000 segments took 48 s. */
    @ParameterizedTest
    @ValueSource(ints = {0xe0, 0xe1, 0xe2, 0xee, 0xef, 0xfe})
    void skipsEmptySegments(int marker) throws UnreadableException {
        byte[] plain = jpeg(LIVELY, false);
        byte[] attack = withSegments(plain, marker, FULL ? 250_000 : 40_000);
        long start = System.nanoTime();
        assertThat(read(attack).image().rgb()).isEqualTo(read(plain).image().rgb());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FAST);
        assertThat(JpegHeader.of(attack).forDecoder()).isEqualTo(plain);
    }

    @Test
    void keepsSegmentsWithMeaning() throws UnreadableException {
        byte[] turned = JpegFile.withOrientation(jpeg(LIVELY, true), 6, ByteOrder.BIG_ENDIAN);
        byte[] adobe = JpegFile.withAdobe(turned, 1);
        byte[] commented = JpegFile.with(adobe, 0xfe, new byte[] {1, 2, 3});
        assertThat(JpegHeader.of(adobe).forDecoder()).isSameAs(adobe);
        assertThat(JpegHeader.of(commented).forDecoder()).isEqualTo(adobe);
        assertThat(read(commented).image().rgb()).isEqualTo(read(adobe).image().rgb());
        assertThat(read(commented).origin().orientation()).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(ints = {0xdb, 0xc4, 0xda})
    void rejectsManySegments(int marker) {
        long start = System.nanoTime();
        Unreadable refused = refused(withSegments(jpeg(LIVELY, false), marker, FULL ? 250_000 : 40_000));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FAST);
        assertThat(refused.problem()).isEqualTo(Problem.TOO_LARGE);
        assertThat(refused.reason()).has(facts("2000"));
    }

    /** A PNG of 1×100,000,000 pixels was decoded for 34 s. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rejectsExtremeSides(boolean wide) {
        int side = 100_000_000;
        byte[] rows = new byte[FULL ? side / 8 / 1000 : side / 8 / 1032 + 1];
        byte[] file = PngFile.of(wide ? side : 1, wide ? 1 : side, 1, 0)
                .chunk("IDAT", rows)
                .chunk("IEND")
                .content();
        assertThat(refused(file).problem()).isEqualTo(Problem.TOO_LARGE);
        assertThat(refused(file).reason()).has(facts("250000"));
        assertThat(new ImageReader(ImageLimits.DEFAULT).pixels(file)).isZero();
    }

    /** Ancillary chunks and blocks, as many as fit into a body of 2 MB. */
    @Test
    void skipsEmptyChunks() {
        PngFile png = PngFile.of(1, 1, 8, 0);
        for (int i = 0; i < 150_000; i++) {
            png.chunk("zzZz");
        }
        byte[] gif = written(LIVELY, "gif");
        int tableEnd = 13 + ((gif[10] & 0x80) != 0 ? 3 << ((gif[10] & 7) + 1) : 0);
        ByteArrayOutputStream blocks = new ByteArrayOutputStream();
        blocks.write(gif, 0, tableEnd);
        for (int i = 0; i < 400_000; i++) {
            blocks.writeBytes(new byte[] {0x21, (byte) 0xfe, 1, 0, 0});
        }
        blocks.write(gif, tableEnd, gif.length - tableEnd);
        long start = System.nanoTime();
        assertThat(read(png.rows(new byte[] {77})).image().rgb()).containsExactly(77, 77, 77);
        // read or refused
        assertThat(new ImageReader(ImageLimits.DEFAULT).read(blocks.toByteArray()))
                .isNotNull();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(FAST);
    }

    static Stream<byte[]> files() {
        BufferedImage tall = image(lively(200, 700), BufferedImage.TYPE_3BYTE_BGR);
        return Stream.of(
                jpeg(tall, false),
                jpeg(tall, true),
                written(tall, "png"),
                written(tall, "gif"),
                written(tall, "bmp"),
                tiff(tall, "LZW"),
                resource("lossy/"
                        + LossyWebpTest.files().findFirst().orElseThrow().name()));
    }

    @ParameterizedTest
    @MethodSource("files")
    void stopsWhenCancelled(byte[] file) {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        AtomicInteger calls = new AtomicInteger();
        assertThat(reader.read(file, () -> calls.incrementAndGet() < 0)).isInstanceOf(ReadResult.Readable.class);
        assertThat(calls.get()).isGreaterThanOrEqualTo(2);
        AtomicInteger after = new AtomicInteger();
        ReadResult cancelled = reader.read(file, () -> after.incrementAndGet() >= 2);
        assertThat(cancelled)
                .isInstanceOfSatisfying(
                        Unreadable.class, it -> assertThat(it.problem()).isEqualTo(Problem.TOO_LARGE));
        assertThat(after.get()).isLessThanOrEqualTo(Math.max(4, calls.get() - 1));
    }

    @ParameterizedTest
    @MethodSource("files")
    void pixelsComeFromHeader(byte[] file) {
        ImageInfo info = read(file).origin();
        assertThat(new ImageReader(ImageLimits.DEFAULT).pixels(file)).isEqualTo((long) info.width() * info.height());
    }

    /** 42 bytes of lossless WebP of one colour, which take 1.5 s to decode. */
    @Test
    void smallFileMayHaveManyPixels() {
        byte[] file = HexFormat.of()
                .parseHex("5249464622000000574542505650384c160000002f57dbd5062859cb6ad6b3020000000000000000" + "0000");
        assertThat(new ImageReader(ImageLimits.DEFAULT).pixels(file)).isEqualTo(7_000L * 7_000);
        assertThat(new ImageReader(new ImageLimits(1 << 20, 1_000_000)).pixels(file))
                .isZero();
    }
}
