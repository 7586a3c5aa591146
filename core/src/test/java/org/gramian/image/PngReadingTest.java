package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.make;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.rgb;
import static org.gramian.image.TestImages.value;
import static org.gramian.image.TestImages.written;

import java.awt.image.BufferedImage;
import java.nio.ByteOrder;
import java.util.function.IntUnaryOperator;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PngReadingTest {
    @RandomTest
    void readsExactPixels(Seed seed) {
        var random = seed.random();
        Image image = TestImages.random(random, 1 + random.nextInt(40), 1 + random.nextInt(40));
        Readable reading = read(written(image(image, BufferedImage.TYPE_INT_RGB), "png"));
        assertThat(reading.image().rgb()).isEqualTo(image.rgb());
        assertThat(reading.origin())
                .isEqualTo(new ImageInfo(ImageFormat.PNG, Colour.RGB, 8, image.width(), image.height(), 1));
    }

    @Test
    void composesAlphaOverWhite() {
        byte[] file = PngFile.of(256, 1, 8, 6).rows(row(256 * 4, i -> i % 4 == 3 ? i / 4 : 60 * (i % 4)));
        Readable reading = read(file);
        for (int alpha = 0; alpha < 256; alpha++) {
            for (int channel = 0; channel < 3; channel++) {
                long expected = Math.round((60 * channel * alpha + 255 * (255 - alpha)) / 255.0);
                assertThat(value(reading.image(), alpha, 0, channel)).isEqualTo((int) expected);
            }
        }
        assertThat(reading.origin().colour()).isEqualTo(Colour.RGB_ALPHA);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void stretchesGrayOfFewBits(int bits) {
        int most = (1 << bits) - 1;
        byte[] packed = new byte[8];
        for (int x = 0; x < 64 / bits; x++) {
            packed[x * bits / 8] |= (byte) ((x & most) << (8 - bits - x * bits % 8));
        }
        Readable reading = read(PngFile.of(64 / bits, 1, bits, 0).rows(packed));
        Image expected = make(64 / bits, 1, (x, _) -> (x & most) * 255 / most * 0x10101);
        assertThat(reading.image().rgb()).isEqualTo(expected.rgb());
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.PNG, Colour.GRAY, bits, 64 / bits, 1, 1));
    }

    @ParameterizedTest
    @CsvSource({"0, 1, GRAY", "2, 3, RGB", "4, 2, GRAY_ALPHA", "6, 4, RGB_ALPHA"})
    void roundsSixteenBits(int type, int channels, Colour colour) {
        int[] samples = {0, 127, 128, 129, 256, 384, 385, 386, 32767, 32768, 65406, 65407, 65535};
        byte[] row = new byte[samples.length * channels * 2];
        for (int i = 0; i < samples.length * channels; i++) {
            boolean alpha = channels % 2 == 0 && i % channels == channels - 1;
            int sample = alpha ? 65535 : samples[i / channels];
            row[2 * i] = (byte) (sample >> 8);
            row[2 * i + 1] = (byte) sample;
        }
        Readable reading = read(PngFile.of(samples.length, 1, 16, type).rows(row));
        Image expected = make(samples.length, 1, (x, _) -> (int) Math.round(samples[x] / 257.0) * 0x10101);
        assertThat(reading.image().rgb()).isEqualTo(expected.rgb());
        assertThat(reading.origin().bits()).isEqualTo(16);
        assertThat(reading.origin().colour()).isEqualTo(colour);
    }

    @Test
    void readsPaletteWithTransparency() {
        byte[] palette = {10, 20, 30, (byte) 200, 100, 0, 0, 0, 0};
        byte[] file = PngFile.of(4, 1, 2, 3)
                .chunk("PLTE", palette)
                .chunk("tRNS", (byte) 255, (byte) 0)
                .rows(new byte[] {0b00_01_10_00});
        Readable reading = read(file);
        Image expected = make(4, 1, (x, _) -> new int[] {rgb(10, 20, 30), rgb(255, 255, 255), 0, rgb(10, 20, 30)}[x]);
        assertThat(reading.image().rgb()).isEqualTo(expected.rgb());
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.PNG, Colour.PALETTE, 2, 4, 1, 1));
    }

    @Test
    void transparentColourBecomesWhite() {
        byte[] colours = {1, 2, 3, 1, 2, 4};
        Readable coloured = read(PngFile.of(2, 1, 8, 2)
                .chunk("tRNS", (byte) 0, (byte) 1, (byte) 0, (byte) 2, (byte) 0, (byte) 3)
                .rows(colours));
        assertThat(coloured.image().rgb()).containsExactly(255, 255, 255, 1, 2, 4);
        assertThat(coloured.origin().colour()).isEqualTo(Colour.RGB_ALPHA);
        Readable gray =
                read(PngFile.of(2, 1, 8, 0).chunk("tRNS", (byte) 0, (byte) 7).rows(new byte[] {7, 8}));
        assertThat(gray.image().rgb()).containsExactly(255, 255, 255, 8, 8, 8);
        assertThat(gray.origin().colour()).isEqualTo(Colour.GRAY_ALPHA);
    }

    @Test
    void appliesOrientation() {
        byte[] exif = JpegFile.orientation(6, ByteOrder.BIG_ENDIAN);
        byte[] file = PngFile.of(2, 1, 8, 0).chunk("eXIf", exif).rows(new byte[] {10, 20});
        Readable reading = read(file);
        assertThat(reading.image()).hasToString("1×2");
        assertThat(reading.image().rgb()).containsExactly(10, 10, 10, 20, 20, 20);
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.PNG, Colour.GRAY, 8, 2, 1, 6));
    }

    @ParameterizedTest
    @CsvSource({"60000, 60000, TOO_LARGE", "-1, -1, TOO_LARGE", "9000, 9000, TRUNCATED", "0, 5, CORRUPT"})
    void rejectsFalseSize(int width, int height, Problem problem) {
        assertThat(refused(PngFile.of(width, height, 8, 2).rows(new byte[3])).problem())
                .isEqualTo(problem);
    }

    @Test
    void rejectsChunkLongerThanFile() {
        byte[] file = PngFile.of(2, 1, 8, 0).chunk("zTXt", new byte[20]).rows(new byte[] {10, 20});
        file[33] = 0x7f;
        assertThat(refused(file).problem()).isEqualTo(Problem.TRUNCATED);
    }

    private static byte[] row(int length, IntUnaryOperator value) {
        byte[] row = new byte[length];
        for (int i = 0; i < length; i++) {
            row[i] = (byte) value.applyAsInt(i);
        }
        return row;
    }
}
