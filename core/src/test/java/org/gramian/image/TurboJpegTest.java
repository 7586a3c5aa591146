package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.image.TestImages.image;
import static org.gramian.image.TestImages.jpeg;
import static org.gramian.image.TestImages.lively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.awt.image.BufferedImage;
import java.util.Arrays;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scaled JPEGs; most tests need libjpeg-turbo. */
class TurboJpegTest {
    private static final int WANTED = 16;

    private static final ImageReader WHOLE = new ImageReader(ImageLimits.DEFAULT);

    private static ImageReader scaled() {
        assumeTrue(TurboJpeg.installed().isPresent(), "libjpeg-turbo is not installed");
        return WHOLE.withScaledJpegs(WANTED);
    }

    @ParameterizedTest(name = "a side of {0} for {1}: divided by {2}")
    @CsvSource({
        "1023, 256, 1",
        "1024, 256, 2",
        "2047, 256, 2",
        "2048, 256, 4",
        "3000, 256, 4",
        "4096, 256, 8",
        "9999, 1, 8"
    })
    void divisorKeepsTwiceTheWantedSide(int shorter, int wanted, int divisor) {
        assertThat(TurboJpeg.divisor(shorter, wanted)).isEqualTo(divisor);
    }

    @Test
    void withoutTheLibraryTheErrorNamesPackages() {
        if (TurboJpeg.installed().isEmpty()) {
            assertThatThrownBy(() -> WHOLE.withScaledJpegs(WANTED))
                    .hasMessageContainingAll("libjpeg-turbo", "libturbojpeg0");
        } else {
            assertThat(WHOLE.withScaledJpegs(WANTED)).isNotNull();
        }
    }

    /** A pixel is close to the mean of those that it replaces; sizes are rounded up. */
    @ParameterizedTest(name = "{0}x{1}, divided by {2}")
    @CsvSource({"80, 64, 2", "131, 141, 4", "300, 257, 8"})
    void scaledImageIsCloseToMeans(int width, int height, int divisor) {
        ImageReader scaled = scaled();
        for (int type : new int[] {BufferedImage.TYPE_3BYTE_BGR, BufferedImage.TYPE_BYTE_GRAY}) {
            for (boolean progressive : new boolean[] {false, true}) {
                byte[] file = jpeg(smooth(width, height, type), progressive);
                Image all = readable(WHOLE.read(file)).image();
                Readable found = readable(scaled.read(file));
                assertThat(found.origin().width()).isEqualTo(width);
                assertThat(found.image().width()).isEqualTo(Math.ceilDiv(width, divisor));
                assertThat(found.image().height()).isEqualTo(Math.ceilDiv(height, divisor));
                assertThat(differenceFromMeans(all, found.image(), divisor)).isLessThan(1.5);
            }
        }
    }

    private static BufferedImage smooth(int width, int height, int type) {
        BufferedImage painted = new BufferedImage(width, height, type);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int red = (int) (128 + 100 * Math.sin(x / 9.0) * Math.cos(y / 7.0));
                int green = (int) (128 + 100 * Math.cos(x / 13.0));
                painted.setRGB(x, y, red << 16 | green << 8 | 90);
            }
        }
        return painted;
    }

    private static Readable readable(ReadResult result) {
        assertThat(result).isInstanceOf(Readable.class);
        return (Readable) result;
    }

    /** Returns the mean difference of whole blocks, in levels of 255. */
    private static double differenceFromMeans(Image all, Image scaled, int divisor) {
        double sum = 0;
        int count = 0;
        byte[] from = all.rgb();
        byte[] to = scaled.rgb();
        for (int y = 0; y < all.height() / divisor; y++) {
            for (int x = 0; x < all.width() / divisor; x++) {
                for (int c = 0; c < 3; c++) {
                    double mean = 0;
                    for (int dy = 0; dy < divisor; dy++) {
                        for (int dx = 0; dx < divisor; dx++) {
                            mean += from[3 * ((y * divisor + dy) * all.width() + x * divisor + dx) + c] & 0xff;
                        }
                    }
                    int value = to[3 * (y * scaled.width() + x) + c] & 0xff;
                    sum += Math.abs(value - mean / (divisor * divisor));
                    count++;
                }
            }
        }
        return sum / count;
    }

    /** What the library warns of is decided by the decoders that read all pixels. */
    @Test
    void rejectsTruncatedFiles() {
        ImageReader scaled = scaled();
        byte[] file = jpeg(image(lively(160, 160), BufferedImage.TYPE_3BYTE_BGR), false);
        byte[] cut = Arrays.copyOf(file, file.length / 2);
        assertThat(scaled.read(cut)).isInstanceOf(Unreadable.class);
        cut[cut.length - 2] = (byte) 0xff;
        cut[cut.length - 1] = (byte) 0xd9;
        assertThat(scaled.read(cut)).isInstanceOf(Unreadable.class);
    }
}
