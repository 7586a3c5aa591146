package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.resource;
import static org.gramian.image.TestImages.tiff;
import static org.gramian.image.TestImages.written;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ImageReaderTest {
    private static final BufferedImage IMAGE = image(lively(24, 16), BufferedImage.TYPE_3BYTE_BGR);

    @TempDir
    Path folder;

    static Stream<byte[]> files() {
        return Stream.of(
                written(IMAGE, "jpeg"),
                written(IMAGE, "png"),
                written(IMAGE, "gif"),
                written(IMAGE, "bmp"),
                tiff(IMAGE, ""),
                resource("lossless.webp"));
    }

    @ParameterizedTest
    @MethodSource("files")
    void detectsFormatByContent(byte[] content) throws IOException {
        Path file = Files.write(folder.resolve("image.txt"), content);
        ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(file);
        assertThat(reading).isInstanceOf(Readable.class);
        assertThat(((Readable) reading).origin().format())
                .isEqualTo(ImageFormat.of(content).orElseThrow());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"B", "BMX is not an image at all", "RIFF....WAVEfmt ", "GIF90a......", "<svg/>", "\0\0\0\0"})
    void rejectsUnknownFormats(String content) {
        assertThat(refused(content.getBytes(StandardCharsets.ISO_8859_1)).problem())
                .isEqualTo(Problem.UNKNOWN_FORMAT);
    }

    @Test
    void reportsInaccessibleAndEmptyFiles() throws IOException {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        assertThat(((Unreadable) reader.read(folder.resolve("absent.png"))).problem())
                .isEqualTo(Problem.INACCESSIBLE);
        assertThat(((Unreadable) reader.read(folder)).problem()).isEqualTo(Problem.INACCESSIBLE);
        Path empty = Files.createFile(folder.resolve("empty.png"));
        assertThat(((Unreadable) reader.read(empty)).problem()).isEqualTo(Problem.EMPTY);
    }

    @ParameterizedTest
    @MethodSource("files")
    void limitsHoldForEveryFormat(byte[] content) throws IOException {
        ImageReader fewPixels = new ImageReader(new ImageLimits(1 << 20, 24 * 16 - 1));
        assertThat(fewPixels.read(content)).isInstanceOfSatisfying(Unreadable.class, unreadable -> {
            assertThat(unreadable.problem()).isEqualTo(Problem.TOO_LARGE);
            assertThat(unreadable.reason()).has(facts("383"));
        });
        ImageReader fewBytes = new ImageReader(new ImageLimits(content.length - 1, 1 << 20));
        ReadResult tooLarge = fewBytes.read(content);
        assertThat(tooLarge).isInstanceOfSatisfying(Unreadable.class, unreadable -> {
            assertThat(unreadable.problem()).isEqualTo(Problem.TOO_LARGE);
            assertThat(unreadable.reason()).has(facts(content.length - 1, content.length));
        });
        assertThat(fewBytes.read(Files.write(folder.resolve("large"), content))).isEqualTo(tooLarge);
    }

    private record Elsewhere(Path file) implements ImageReader.ImageContent {
        @Override
        public long size() throws IOException {
            return Files.size(file);
        }

        @Override
        public byte[] bytes() throws IOException {
            return Files.readAllBytes(file);
        }
    }

    @Test
    void readsOtherStorageAsFiles() throws IOException {
        ImageReader small = new ImageReader(new ImageLimits(100, 1000));
        List<Path> files = List.of(
                Files.write(folder.resolve("large"), new byte[101]),
                Files.write(folder.resolve("noise"), new byte[100]),
                folder.resolve("none"));
        for (Path file : files) {
            assertThat(small.read(new Elsewhere(file)))
                    .isInstanceOf(Unreadable.class)
                    .isEqualTo(small.read(file));
        }
        Path image = Files.write(folder.resolve("image"), written(IMAGE, "png"));
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        assertThat(reader.read(new Elsewhere(image))).isInstanceOf(Readable.class);
    }

    @Test
    void reportsLackOfMemory() {
        ReadResult found = ImageReader.withPermit(() -> {
            throw new OutOfMemoryError();
        });
        assertThat(((Unreadable) found).problem()).isEqualTo(Problem.NO_MEMORY);
    }

    @Test
    void readsFromManyThreads() {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        List<byte[]> contents = files().toList();
        List<Image> alone =
                contents.stream().map(c -> TestImages.read(c).image()).toList();
        IntStream.range(0, 300).parallel().forEach(i -> {
            Image image = ((Readable) reader.read(contents.get(i % 6))).image();
            assertThat(image.rgb()).isEqualTo(alone.get(i % 6).rgb());
        });
    }

    /** A file, the smallest and the first too large length of what is left of it, and the step between them. */
    static Stream<Arguments> truncations() {
        byte[] jpeg = jpeg(IMAGE, false);
        int scan = JpegFile.find(jpeg, 0xda);
        byte[] png = written(IMAGE, "png");
        byte[] gif = written(IMAGE, "gif");
        byte[] tiff = tiff(IMAGE, "LZW");
        return Stream.concat(
                Stream.of(
                        Arguments.of(jpeg, 3, scan + 10, 1),
                        Arguments.of(jpeg, scan + 20, jpeg.length - 3, 7),
                        Arguments.of(png, 8, png.length - 24, 3), // checksums and the end come after the last pixel
                        Arguments.of(gif, 20, gif.length - 4, 5),
                        Arguments.of(tiff, 8, tiff.length - 8, 11)),
                Stream.concat(
                                Stream.of("lossless.webp", "lossy-alpha.webp", "animated.webp"),
                                LossyWebpTest.files().map(file -> "lossy/" + file.name()))
                        .map(TestImages::resource)
                        .map(webp -> Arguments.of(webp, 16, webp.length - 1, 1 + webp.length / 50)));
    }

    @ParameterizedTest
    @MethodSource("truncations")
    void rejectsTruncatedFiles(byte[] file, int from, int to, int step) {
        boolean tiff = ImageFormat.of(file).orElseThrow() == ImageFormat.TIFF;
        for (int length = from; length < to; length += step) {
            assertThat(refused(Arrays.copyOf(file, length)).problem())
                    .as("%d of %d bytes", length, file.length)
                    .isIn(Problem.TRUNCATED, tiff ? Problem.CORRUPT : Problem.TRUNCATED);
        }
    }

    /** Each of 60,000 tags of a directory claims the whole file as its value, which a decoder would keep 60,000 times. */
    @Test
    void rejectsTiffWhoseTagsShareTheFile() {
        int tags = 60_000;
        ByteBuffer bomb = ByteBuffer.allocate(8 + 2 + 12 * tags + 4).order(ByteOrder.LITTLE_ENDIAN);
        bomb.put((byte) 'I').put((byte) 'I').putShort((short) 42).putInt(8).putShort((short) tags);
        for (int i = 0; i < tags; i++) {
            bomb.putShort((short) (0x9000 + i % 0x1000))
                    .putShort((short) 7)
                    .putInt(bomb.capacity() - 8)
                    .putInt(8);
        }
        assertThat(refused(bomb.array()).problem()).isEqualTo(Problem.TOO_LARGE);
    }
}
