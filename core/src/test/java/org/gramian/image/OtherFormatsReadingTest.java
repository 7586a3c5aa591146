package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.distance;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.make;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.resource;
import static org.gramian.image.TestImages.rgb;
import static org.gramian.image.TestImages.smooth;
import static org.gramian.image.TestImages.tiff;
import static org.gramian.image.TestImages.value;
import static org.gramian.image.TestImages.written;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OtherFormatsReadingTest {
    private static final Image LIVELY = lively(24, 16);

    /** Four colours, one of them transparent. */
    private static BufferedImage indexed() {
        byte[] red = {0, (byte) 255, 100, 9};
        byte[] green = {0, 0, 100, 8};
        byte[] blue = {0, 0, 100, 7};
        IndexColorModel palette = new IndexColorModel(2, 4, red, green, blue, 3);
        BufferedImage image = new BufferedImage(20, 10, BufferedImage.TYPE_BYTE_INDEXED, palette);
        for (int y = 0; y < 10; y++) {
            for (int x = 0; x < 20; x++) {
                image.getRaster().setSample(x, y, 0, (x / 3 + y) % 4);
            }
        }
        return image;
    }

    private static final Image INDEXED = make(
            20, 10, (x, y) -> new int[] {0, rgb(255, 0, 0), rgb(100, 100, 100), rgb(255, 255, 255)}[(x / 3 + y) % 4]);

    @Test
    void readsFirstFrameOfGif() {
        Readable reading = read(written(indexed(), "gif"));
        assertThat(reading.image().rgb()).isEqualTo(INDEXED.rgb());
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.GIF, Colour.PALETTE, 2, 20, 10, 1));
    }

    @Test
    void rejectsGifWithTooFewRows() {
        byte[] file = written(indexed(), "gif");
        // The data ends in order, but too early: a table of four colours, eleven bytes of block headers.
        byte[] taller = file.clone();
        int descriptor = find(taller, 0x2c, 13);
        taller[descriptor + 7] = 50;
        assertThat(refused(taller).problem()).isEqualTo(Problem.TRUNCATED);
    }

    @ParameterizedTest
    @CsvSource({"TYPE_3BYTE_BGR, RGB, 8", "TYPE_INT_RGB, RGB, 8", "TYPE_USHORT_555_RGB, RGB, 5"})
    void readsBmp(String type, Colour colour, int bits) throws ReflectiveOperationException {
        BufferedImage image = image(LIVELY, BufferedImage.class.getField(type).getInt(null));
        Readable reading = read(written(image, "bmp"));
        assertThat(distance(reading.image(), LIVELY)).isLessThanOrEqualTo(bits == 8 ? 0 : 8);
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.BMP, colour, bits, 24, 16, 1));
    }

    @Test
    void rejectsFalseBmpHeaders() {
        byte[] file = written(image(LIVELY, BufferedImage.TYPE_3BYTE_BGR), "bmp");
        assertThat(refused(Arrays.copyOf(file, file.length - 1)).problem()).isEqualTo(Problem.TRUNCATED);
        assertThat(refused(Arrays.copyOf(file, 30)).problem()).isEqualTo(Problem.TRUNCATED);
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(30, 4);
        assertThat(refused(file).problem()).as("a JPEG inside").isEqualTo(Problem.UNKNOWN_FORMAT);
        bytes.putInt(30, 1).putInt(34, Integer.MAX_VALUE);
        assertThat(refused(file).problem()).as("run lengths").isEqualTo(Problem.TRUNCATED);
        bytes.putInt(30, 0).putInt(18, 60_000).putInt(22, -60_000);
        assertThat(refused(file).problem()).isEqualTo(Problem.TOO_LARGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "LZW", "Deflate", "ZLib", "PackBits"})
    void readsTiffOfEveryCompression(String compression) {
        Readable reading = read(tiff(image(LIVELY, BufferedImage.TYPE_3BYTE_BGR), compression));
        assertThat(reading.image().rgb()).isEqualTo(LIVELY.rgb());
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.TIFF, Colour.RGB, 8, 24, 16, 1));
    }

    @Test
    void readsTiffOfEverySampleType() {
        Readable jpeg = read(tiff(image(smooth(64, 48), BufferedImage.TYPE_3BYTE_BGR), "JPEG"));
        assertThat(distance(jpeg.image(), smooth(64, 48))).isLessThan(14);
        BufferedImage deep = new BufferedImage(5, 1, BufferedImage.TYPE_USHORT_GRAY);
        deep.getRaster().setSamples(0, 0, 5, 1, 0, new int[] {0, 128, 129, 40_000, 65_535});
        Readable gray = read(tiff(deep, ""));
        assertThat(gray.image().rgb()).containsExactly(0, 0, 0, 0, 0, 0, 1, 1, 1, 156, 156, 156, 255, 255, 255);
        assertThat(gray.origin()).isEqualTo(new ImageInfo(ImageFormat.TIFF, Colour.GRAY, 16, 5, 1, 1));
        BufferedImage bilevel = new BufferedImage(9, 1, BufferedImage.TYPE_BYTE_BINARY);
        bilevel.getRaster().setSample(4, 0, 0, 1);
        Readable black = read(tiff(bilevel, ""));
        assertThat(value(black.image(), 4, 0, 0)).isEqualTo(255);
        assertThat(value(black.image(), 3, 0, 0)).isZero();
        assertThat(black.origin()).isEqualTo(new ImageInfo(ImageFormat.TIFF, Colour.PALETTE, 1, 9, 1, 1));
        assertThat(read(tiff(indexed(), "")).origin().colour()).isEqualTo(Colour.PALETTE);
        BufferedImage clear = new BufferedImage(2, 1, BufferedImage.TYPE_4BYTE_ABGR);
        clear.setRGB(0, 0, 51 << 24 | 0x646464);
        Readable composed = read(tiff(clear, ""));
        assertThat(composed.image().rgb()).containsExactly(224, 224, 224, 255, 255, 255);
        assertThat(composed.origin().colour()).isEqualTo(Colour.RGB_ALPHA);
    }

    @Test
    void rejectsTiffOfManySamples() {
        byte[] file = tiff(image(LIVELY, BufferedImage.TYPE_3BYTE_BGR), "");
        ByteOrder order = file[0] == 'I' ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        ByteBuffer bytes = ByteBuffer.wrap(file).order(order);
        int entry = bytes.getInt(4) + 2;
        while (bytes.getShort(entry) != 277) {
            entry += 12;
        }
        bytes.putShort(entry + 2, (short) 4).putInt(entry + 8, 500_000_000);
        assertThat(refused(file).reason()).contains("500000000");
    }

    @Test
    void rejectsBigTiff() {
        byte[] file = {'I', 'I', 43, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0};
        assertThat(refused(file).reason()).contains("BigTIFF");
    }

    @Test
    void readsLosslessWebp() {
        Readable reading = read(resource("lossless.webp"));
        assertThat(reading.image().rgb()).isEqualTo(LIVELY.rgb());
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.WEBP, Colour.RGB, 8, 24, 16, 1));
        assertThat(read(resource("animated.webp")).image().rgb())
                .as("first frame")
                .isEqualTo(LIVELY.rgb());
        assertThat(read(resource("profile.webp")).image().rgb()).as("profile").isEqualTo(LIVELY.rgb());
    }

    @Test
    void composesWebpAlphaOverWhite() {
        Readable reading = read(resource("lossless-alpha.webp"));
        Image expected = make(24, 16, (x, y) -> rgb(overWhite(x, y, 0), overWhite(x, y, 1), overWhite(x, y, 2)));
        assertThat(reading.image().rgb()).isEqualTo(expected.rgb());
        assertThat(reading.origin().colour()).isEqualTo(Colour.RGB_ALPHA);
    }

    private static int overWhite(int x, int y, int channel) {
        int alpha = 11 * x;
        return (int) Math.round((value(LIVELY, x, y, channel) * alpha + 255 * (255 - alpha)) / 255.0);
    }

    @Test
    void rejectsContradictingWebpSizes() {
        byte[] file = resource("turned.webp");
        file[24]++;
        assertThat(refused(file).reason()).contains("25×16").contains("24×16");
    }

    private static int find(byte[] content, int value, int from) {
        for (int i = from; i < content.length; i++) {
            if (content[i] == (byte) value) {
                return i;
            }
        }
        throw new AssertionError("no byte " + value);
    }
}
