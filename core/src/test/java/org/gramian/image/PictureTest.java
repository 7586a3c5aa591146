package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.image.TestPictures.lively;
import static org.gramian.image.TestPictures.value;
import static org.gramian.testing.Facts.facts;

import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PictureTest {
    @RandomTest
    void aCropHasThePixelsOfItsPart(Seed seed) {
        var random = seed.random();
        Picture picture = TestPictures.random(random, 5 + random.nextInt(20), 5 + random.nextInt(20));
        int x = random.nextInt(picture.width());
        int y = random.nextInt(picture.height());
        int width = 1 + random.nextInt(picture.width() - x);
        int height = 1 + random.nextInt(picture.height() - y);
        Picture part = picture.crop(x, y, width, height);
        assertThat(part).hasToString(width + "×" + height);
        for (int v = 0; v < height; v++) {
            for (int u = 0; u < width; u++) {
                for (int channel = 0; channel < 3; channel++) {
                    assertThat(value(part, u, v, channel)).isEqualTo(value(picture, x + u, y + v, channel));
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
        Picture picture = lively(5, 3);
        Picture flipped = picture.flip();
        assertThat(value(flipped, 0, 2, 1)).isEqualTo(value(picture, 4, 2, 1));
        assertThat(value(flipped, 1, 0, 0)).isEqualTo(value(picture, 3, 0, 0));
        assertThat(flipped.flip().rgb()).isEqualTo(picture.rgb());
    }

    @Test
    void bytesThatDoNotFitAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Picture(2, 2, new byte[11]))
                .withMessageContaining("12 bytes");
        assertThatIllegalArgumentException().isThrownBy(() -> new Picture(0, 2, new byte[0]));
    }

    @Test
    void turningFourTimesIsNoTurn() {
        Picture picture = lively(7, 4);
        Picture turned = picture;
        for (int i = 0; i < 4; i++) {
            turned = Orientation.TURNED_LEFT.upright(turned);
            assertThat(turned.width()).isEqualTo(i % 2 == 0 ? 4 : 7);
        }
        assertThat(turned.rgb()).isEqualTo(picture.rgb());
        assertThat(Orientation.TURNED_RIGHT
                        .upright(Orientation.TURNED_LEFT.upright(picture))
                        .rgb())
                .isEqualTo(picture.rgb());
        assertThatIllegalArgumentException().isThrownBy(() -> Orientation.of(9)).has(facts("1", "8"));
    }
}
