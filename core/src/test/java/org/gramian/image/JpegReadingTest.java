package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.image.TestImages.distance;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.make;
import static org.gramian.image.TestImages.read;
import static org.gramian.image.TestImages.refused;
import static org.gramian.image.TestImages.smooth;
import static org.gramian.image.TestImages.value;

import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.awt.image.WritableRaster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import org.gramian.image.ImageInfo.Colour;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Readable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JpegReadingTest {
    private static final Image SMOOTH = smooth(60, 44);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readsBaselineAndProgressive(boolean progressive) {
        Readable reading = read(jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), progressive));
        assertThat(distance(reading.image(), SMOOTH)).isLessThan(14);
        assertThat(reading.origin()).isEqualTo(new ImageInfo(ImageFormat.JPEG, Colour.RGB, 8, 60, 44, 1));
    }

    @Test
    void coloursEqualJdkUpToRounding() throws IOException {
        byte[] file = jpeg(image(TestImages.lively(61, 43), BufferedImage.TYPE_3BYTE_BGR), false);
        BufferedImage jdk = ImageIO.read(new ByteArrayInputStream(file));
        Image expected = make(61, 43, jdk::getRGB);
        assertThat(distance(read(file).image(), expected)).isLessThanOrEqualTo(1);
    }

    @Test
    void grayFillsAllChannels() {
        WritableRaster gray = components(1, (x, y, _) -> 4 * x + y);
        Readable reading = read(jpeg(gray));
        Image expected = make(60, 44, (x, y) -> (4 * x + y & 0xff) * 0x10101);
        assertThat(distance(reading.image(), expected)).isLessThan(8);
        assertThat(reading.origin().colour()).isEqualTo(Colour.GRAY);
    }

    @Test
    void readsCmykPlainAndAdobe() {
        byte[] plain = jpeg(components(4, JpegReadingTest::inks));
        Image image = read(plain).image();
        for (int channel = 0; channel < 3; channel++) {
            double expected = (255 - inks(20, 30, channel)) * (255 - inks(20, 30, 3)) / 255.0;
            assertThat((double) value(image, 20, 30, channel)).isCloseTo(expected, within(6.0));
        }
        Readable adobe = read(JpegFile.withAdobe(jpeg(components(4, (x, y, c) -> 255 - inks(x, y, c))), 0));
        assertThat(distance(adobe.image(), image)).isLessThan(6);
        assertThat(adobe.origin().colour()).isEqualTo(Colour.CMYK);
    }

    @Test
    void readsYcck() {
        // Luminance and chroma of 255 − c, 255 − m, 255 − y of the inverted inks; here all gray, so that chroma is 128.
        WritableRaster ycck = components(4, (x, _, c) -> c == 0 ? 2 * x : c == 3 ? 200 : 128);
        Image image = read(JpegFile.withAdobe(jpeg(ycck), 2)).image();
        for (int channel = 0; channel < 3; channel++) {
            double missing = 255 - 2 * 30;
            assertThat((double) value(image, 30, 20, channel)).isCloseTo(missing * 200 / 255, within(5.0));
        }
    }

    @Test
    void readsAdobeRgb() {
        byte[] file =
                JpegFile.withAdobe(JpegFile.withoutJfif(jpeg(components(3, (x, y, c) -> c == 0 ? 250 : 2 * x + y))), 0);
        Image image = read(file).image();
        assertThat(value(image, 10, 20, 0)).isBetween(244, 255);
        assertThat(value(image, 10, 20, 1)).isBetween(34, 46);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void appliesEveryOrientation(int number) {
        Image upright = smooth(48, 32);
        Image stored = stored(upright, number);
        byte[] file = jpeg(image(stored, BufferedImage.TYPE_3BYTE_BGR), false);
        ByteOrder order = number % 2 == 0 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        Readable reading = read(JpegFile.withOrientation(file, number, order));
        assertThat(distance(reading.image(), upright)).isLessThan(14);
        assertThat(reading.origin())
                .isEqualTo(new ImageInfo(ImageFormat.JPEG, Colour.RGB, 8, stored.width(), stored.height(), number));
    }

    /** As EXIF words it: which side of the scene the first row and the first column are. */
    private static Image stored(Image upright, int number) {
        int w = upright.width() - 1;
        int h = upright.height() - 1;
        int columns = number < 5 ? w + 1 : h + 1;
        int rows = number < 5 ? h + 1 : w + 1;
        return make(columns, rows, (column, row) -> switch (number) {
            case 1 -> at(upright, column, row); // row 0 top, column 0 left
            case 2 -> at(upright, w - column, row); // top, right
            case 3 -> at(upright, w - column, h - row); // bottom, right
            case 4 -> at(upright, column, h - row); // bottom, left
            case 5 -> at(upright, row, column); // left, top
            case 6 -> at(upright, w - row, column); // right, top
            case 7 -> at(upright, w - row, h - column); // right, bottom
            default -> at(upright, row, h - column); // left, bottom
        });
    }

    private static int at(Image image, int x, int y) {
        return TestImages.rgb(value(image, x, y, 0), value(image, x, y, 1), value(image, x, y, 2));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 9, 255})
    void ignoresInvalidOrientation(int number) {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), false);
        assertThat(read(JpegFile.withOrientation(file, number, ByteOrder.BIG_ENDIAN))
                        .origin()
                        .orientation())
                .isEqualTo(1);
    }

    @Test
    void readsWithoutEndMarkerAndWithTrailingBytes() {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), false);
        Image whole = read(file).image();
        assertThat(read(Arrays.copyOf(file, file.length - 2)).image().rgb()).isEqualTo(whole.rgb());
        byte[] trailing = Arrays.copyOf(file, file.length + 1000);
        Arrays.fill(trailing, file.length, trailing.length, (byte) 0xa5);
        assertThat(read(trailing).image().rgb()).isEqualTo(whole.rgb());
    }

    @Test
    void rejectsMissingScans() {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), true);
        int secondScan = JpegFile.find(Arrays.copyOfRange(file, JpegFile.find(file, 0xda) + 2, file.length), 0xc4);
        byte[] firstLayer = Arrays.copyOf(file, JpegFile.find(file, 0xda) + 2 + secondScan);
        assertThat(refused(firstLayer).problem()).isEqualTo(Problem.TRUNCATED);
        assertThat(refused(Arrays.copyOf(file, file.length - 2)).problem()).isEqualTo(Problem.TRUNCATED);
    }

    @Test
    void rejectsManyEmptyScans() {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), true);
        int scan = JpegFile.find(file, 0xda);
        ByteArrayOutputStream bomb = new ByteArrayOutputStream();
        bomb.write(file, 0, file.length - 2);
        for (int i = 0; i < 10_000; i++) {
            bomb.write(file, scan, 20);
        }
        bomb.write(file, file.length - 2, 2);
        ReadResult reading = new ImageReader(new ImageLimits(1 << 20, 100_000)).read(bomb.toByteArray());
        assertThat(reading)
                .isInstanceOfSatisfying(
                        ReadResult.Unreadable.class,
                        unreadable -> assertThat(unreadable.problem()).isEqualTo(Problem.TOO_LARGE));
    }

    @ParameterizedTest
    @CsvSource({"60000, 60000, TOO_LARGE", "9000, 9000, TRUNCATED", "0, 100, CORRUPT"})
    void rejectsFalseSize(int width, int height, Problem problem) {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), false);
        int frame = JpegFile.find(file, 0xc0);
        file[frame + 5] = (byte) (height >> 8);
        file[frame + 6] = (byte) height;
        file[frame + 7] = (byte) (width >> 8);
        file[frame + 8] = (byte) width;
        assertThat(refused(file).problem()).isEqualTo(problem);
    }

    @Test
    void ignoresBrokenProfile() {
        byte[] file = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), false);
        byte[] profile = "ICC_PROFILE\0\3\7 not a profile".getBytes(StandardCharsets.US_ASCII);
        assertThat(read(JpegFile.with(file, 0xe2, profile)).image().rgb())
                .isEqualTo(read(file).image().rgb());
    }

    private static int inks(int x, int y, int channel) {
        return switch (channel) {
            case 0 -> 3 * x;
            case 1 -> 4 * y;
            case 2 -> x + y;
            default -> 2 * y;
        };
    }

    private interface Component {
        int at(int x, int y, int channel);
    }

    private static WritableRaster components(int channels, Component component) {
        WritableRaster raster = Raster.createInterleavedRaster(DataBuffer.TYPE_BYTE, 60, 44, channels, null);
        for (int y = 0; y < 44; y++) {
            for (int x = 0; x < 60; x++) {
                for (int channel = 0; channel < channels; channel++) {
                    raster.setSample(x, y, channel, component.at(x, y, channel) & 0xff);
                }
            }
        }
        return raster;
    }

    /** libjpeg tells its first warning only, and here that is a harmless one. */
    @Test
    void harmlessWarningDoesNotHideTruncation() {
        byte[] plain = jpeg(image(SMOOTH, BufferedImage.TYPE_3BYTE_BGR), false);
        byte[] jfif2 = plain.clone();
        jfif2[11] = 2;
        byte[] adobe7 = JpegFile.withAdobe(JpegFile.withoutJfif(plain), 7);
        for (byte[] file : List.of(jfif2, adobe7)) {
            assertThat(distance(read(file).image(), SMOOTH)).isLessThan(14);
            int scan = JpegFile.find(file, 0xda);
            byte[] half = Arrays.copyOf(file, scan + (file.length - scan) / 2);
            assertThat(refused(half).problem()).isEqualTo(Problem.TRUNCATED);
        }
    }
}
