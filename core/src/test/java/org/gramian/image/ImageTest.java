package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.image.TestImages.lively;
import static org.gramian.image.TestImages.value;
import static org.gramian.testing.Facts.facts;

import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ImageTest {
    @RandomTest
    void aCropHasThePixelsOfItsPart(Seed seed) {
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
    void aCropOutsideIsRefused(int x, int y, int width, int height) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> lively(24, 16).crop(x, y, width, height))
                .withMessageContaining("24×16");
    }

    @Test
    void aFlipChangesLeftAndRight() {
        Image image = lively(5, 3);
        Image flipped = image.flip();
        assertThat(value(flipped, 0, 2, 1)).isEqualTo(value(image, 4, 2, 1));
        assertThat(value(flipped, 1, 0, 0)).isEqualTo(value(image, 3, 0, 0));
        assertThat(flipped.flip().rgb()).isEqualTo(image.rgb());
    }

    @Test
    void bytesThatDoNotFitAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Image(2, 2, new byte[11]))
                .withMessageContaining("12 bytes");
        assertThatIllegalArgumentException().isThrownBy(() -> new Image(0, 2, new byte[0]));
    }

    @Test
    void turningFourTimesIsNoTurn() {
        Image image = lively(7, 4);
        Image turned = image;
        for (int i = 0; i < 4; i++) {
            turned = Orientation.TURNED_LEFT.upright(turned);
            assertThat(turned.width()).isEqualTo(i % 2 == 0 ? 4 : 7);
        }
        assertThat(turned.rgb()).isEqualTo(image.rgb());
        assertThat(Orientation.TURNED_RIGHT
                        .upright(Orientation.TURNED_LEFT.upright(image))
                        .rgb())
                .isEqualTo(image.rgb());
        assertThatIllegalArgumentException().isThrownBy(() -> Orientation.of(9)).has(facts("1", "8"));
    }
}
