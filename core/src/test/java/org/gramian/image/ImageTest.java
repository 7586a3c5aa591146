package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.value;
import static org.gramian.testing.Facts.assertRejected;

import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ImageTest {
    @RandomTest
    void cropHasPixelsOfPart(Seed seed) {
        var random = seed.random();
        Image image = TestImages.random(random, 5 + random.nextInt(20), 5 + random.nextInt(20));
        int x = random.nextInt(image.width());
        int y = random.nextInt(image.height());
        int width = 1 + random.nextInt(image.width() - x);
        int height = 1 + random.nextInt(image.height() - y);
        Image part = image.crop(x, y, width, height);
        assertThat(part).hasToString(width + "×" + height);
        for (int v = 0; v < height; v++) {
            for (int u = 0; u < width; u++) {
                for (int channel = 0; channel < 3; channel++) {
                    assertThat(value(part, u, v, channel)).isEqualTo(value(image, x + u, y + v, channel));
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 0, 2, 2",
        "0, -1, 2, 2",
        "23, 0, 2, 2",
        "0, 15, 2, 2",
        "0, 0, 0, 1",
        "0, 0, 1, -1",
        "5, 5, 2147483647, 1"
    })
    void rejectsCropOutsideImage(int x, int y, int width, int height) {
        assertRejected(() -> lively(24, 16).crop(x, y, width, height), "24×16");
    }

    @Test
    void flipExchangesLeftAndRight() {
        Image image = lively(5, 3);
        Image flipped = Orientation.MIRRORED.upright(image);
        assertThat(value(flipped, 0, 2, 1)).isEqualTo(value(image, 4, 2, 1));
        assertThat(value(flipped, 1, 0, 0)).isEqualTo(value(image, 3, 0, 0));
        assertThat(Orientation.MIRRORED.upright(flipped).rgb()).isEqualTo(image.rgb());
    }
}
