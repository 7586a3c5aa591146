package org.gramian.image.augment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.gramian.image.augment.Augmentation.Draw;
import org.gramian.image.augment.Augmentation.Geometry;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AugmentationTest {
    private static final int SIZE = 224;
    private static final int DRAWS = 6_000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "none",
                "light",
                "standard",
                "strong",
                "standard+erase:0.25",
                "standard+randaugment:2+erase:0.25",
                "none+flip:0.5",
                "light+scale:0.08+aspect:0.5+contrast:0"
            })
    void parseReadsText(String text) {
        Augmentation policy = Augmentation.parse(text);
        assertThat(Augmentation.parse(policy.text())).isEqualTo(policy);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        standrd             | standrd standard
        standard+erasing:1  | erasing erase
        standard+erase      | erase:VALUE
        standard+erase:2    | erase 0 1 2
        light+scale:0       | scale 0 1 0
        light+randaugment:x | randaugment:VALUE x
        light+flip:0+flip:1 | flip
        """)
    void rejectsInvalidText(String text, String values) {
        assertRejected(() -> Augmentation.parse(text), (Object[]) values.split(" "));
    }

    @RandomTest
    void parametersDependOnKeyOnly(Seed seed) {
        long run = seed.random().nextLong();
        Geometry image = new Geometry(400, 288, false);
        List<CropParameters> serial = IntStream.range(0, 500)
                .mapToObj(i -> Augmentation.STRONG.draw(new Draw(run, 2_000_001, i), image, SIZE))
                .toList();
        List<CropParameters> parallel = IntStream.range(0, 500)
                .parallel()
                .mapToObj(i -> Augmentation.STRONG.draw(new Draw(run, 2_000_001, i), image, SIZE))
                .toList();
        assertThat(parallel).isEqualTo(serial);
        Set<CropParameters> all = new HashSet<>(serial);
        IntStream.range(0, 500).forEach(i -> {
            all.add(Augmentation.STRONG.draw(new Draw(run, 2_000_002, i), image, SIZE));
            all.add(Augmentation.STRONG.draw(new Draw(run + 1, 2_000_001, i), image, SIZE));
        });
        assertThat(all).as("other epochs and seeds draw others").hasSize(1500);
    }

    @ParameterizedTest
    @CsvSource({"288, 288, false", "500, 288, false", "288, 700, false", "500, 288, true", "90, 60, false"})
    void cropsLieInImageWithAreaOfPolicy(int width, int height, boolean squeezed) {
        Geometry image = new Geometry(width, height, squeezed);
        Augmentation policy = Augmentation.STANDARD;
        double areas = 0;
        int flips = 0;
        for (int i = 0; i < DRAWS; i++) {
            CropParameters.Affine map =
                    policy.draw(new Draw(7, 0, i), image, SIZE).map();
            double cropWidth = Math.abs(map.xx()) * SIZE;
            double cropHeight = map.yy() * SIZE;
            double left = Math.min(map.x0(), map.x0() + map.xx() * SIZE);
            assertThat(left).isGreaterThan(-1e-3);
            assertThat(left + cropWidth).isLessThan(width + 1e-3);
            assertThat((double) map.y0()).isGreaterThan(-1e-3);
            assertThat(map.y0() + cropHeight).isLessThan(height + 1e-3);
            double unit = squeezed ? (double) width * height : Math.pow(Math.min(width, height), 2);
            double area = cropWidth * cropHeight / unit;
            assertThat(area).isBetween(0.3 * 0.86, 1.0 + 1e-5); // cut to the image at most by e^(-0.29 / 2)
            areas += area;
            flips += map.xx() < 0 ? 1 : 0;
            assertThat(map.separable()).isTrue();
        }
        assertThat(areas / DRAWS).isBetween(0.62, 0.66);
        assertThat((double) flips / DRAWS).isCloseTo(0.5, within(0.02));
    }

    @Test
    void coloursAndErasedRectanglesStayInRange() {
        Geometry image = new Geometry(300, 288, false);
        Augmentation policy = Augmentation.parse("standard+erase:0.25");
        int erased = 0;
        double contrast = 0;
        for (int i = 0; i < DRAWS; i++) {
            CropParameters drawn = policy.draw(new Draw(3, 1, i), image, SIZE);
            CropParameters.Colours colours = drawn.colours();
            assertThat(colours.contrast()).isBetween(0.7f, 1.3f);
            assertThat(colours.brightness()).isBetween(-25.5f, 25.5f);
            assertThat(colours.saturation()).isBetween(0.8f, 1.2f);
            assertThat(colours.sharpness()).isEqualTo(1);
            assertThat(colours.mask()).isEqualTo(255);
            contrast += colours.contrast();
            CropParameters.Rectangle rectangle = drawn.erased();
            assertThat(rectangle.left()).isBetween(0, rectangle.right());
            assertThat(rectangle.right()).isLessThanOrEqualTo(SIZE);
            assertThat(rectangle.bottom()).isLessThanOrEqualTo(SIZE);
            if (rectangle.area() > 0) {
                erased++;
                assertThat(rectangle.area() / (double) (SIZE * SIZE)).isBetween(0.018, 0.345);
            }
        }
        assertThat(contrast / DRAWS).isCloseTo(1, within(0.005));
        assertThat((double) erased / DRAWS).isCloseTo(0.25, within(0.02));
    }

    @Test
    void randAugmentRotatesAndChangesColours() {
        Geometry image = new Geometry(300, 288, false);
        int turned = 0;
        int posterized = 0;
        for (int i = 0; i < DRAWS; i++) {
            CropParameters drawn = Augmentation.STRONG.draw(new Draw(3, 1, i), image, SIZE);
            turned += drawn.map().separable() ? 0 : 1;
            posterized += drawn.colours().mask() < 255 ? 1 : 0;
            assertThat(drawn.colours().mask()).isIn(255, 254, 252, 248, 240);
        }
        // Three of eight operations turn or shear, one posterizes; two are drawn.
        assertThat((double) turned / DRAWS).isCloseTo(1 - 25.0 / 64, within(0.02));
        assertThat((double) posterized / DRAWS).isCloseTo(1 - 49.0 / 64, within(0.02));
    }
}
