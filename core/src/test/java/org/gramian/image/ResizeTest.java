package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.image.TestImages.distance;
import static org.gramian.image.TestImages.make;
import static org.gramian.image.TestImages.rgb;
import static org.gramian.image.TestImages.value;
import static org.gramian.testing.Facts.assertRejected;

import java.util.SplittableRandom;
import org.gramian.image.resize.Resize;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ResizeTest {
    @RandomTest
    void equalsDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        Image image = any(random);
        int width = size(random);
        int height = size(random);
        Image resized = Resize.to(image, width, height);
        double[][] columns = weights(image.width(), width);
        double[][] rows = weights(image.height(), height);
        for (int x = 0; x < width; x++) {
            for (int y = 0; y < height; y++) {
                for (int channel = 0; channel < 3; channel++) {
                    double expected = 0;
                    for (int u = 0; u < image.width(); u++) {
                        for (int v = 0; v < image.height(); v++) {
                            expected += columns[x][u] * rows[y][v] * value(image, u, v, channel);
                        }
                    }
                    assertThat((double) value(resized, x, y, channel)).isCloseTo(expected, within(1.001));
                }
            }
        }
    }

    /** Triangles as wide as a pixel of the result, at least as wide as one of the source, with sums of one. */
    private static double[][] weights(int from, int to) {
        double scale = (double) from / to;
        double[][] weights = new double[to][from];
        for (int i = 0; i < to; i++) {
            double sum = 0;
            for (int j = 0; j < from; j++) {
                double distance = Math.abs((j + 0.5) - (i + 0.5) * scale);
                weights[i][j] = Math.max(0, 1 - distance / Math.max(1, scale));
                sum += weights[i][j];
            }
            for (int j = 0; j < from; j++) {
                weights[i][j] /= sum;
            }
        }
        return weights;
    }

    @RandomTest(times = 60)
    void partEqualsCropOfWhole(Seed seed) {
        SplittableRandom random = seed.random();
        Image image = any(random);
        int width = random.nextInt(4) == 0 ? image.width() : size(random);
        int height = random.nextInt(4) == 0 ? image.height() : size(random);
        int left = random.nextInt(width);
        int top = random.nextInt(height);
        int columns = 1 + random.nextInt(width - left);
        int rows = 1 + random.nextInt(height - top);
        assertThat(Resize.part(image, width, height, new Resize.Window(left, top, columns, rows))
                        .rgb())
                .isEqualTo(Resize.to(image, width, height)
                        .crop(left, top, columns, rows)
                        .rgb());
    }

    @Test
    void rejectsWindowOutside() {
        Image image = make(9, 9, (_, _) -> 0);
        assertRejected(() -> Resize.part(image, 5, 5, new Resize.Window(3, 0, 3, 5)), "5×5");
        assertRejected(() -> Resize.part(image, 5, 5, new Resize.Window(-1, 0, 3, 5)));
        assertRejected(() -> Resize.part(image, 5, 5, new Resize.Window(0, 0, 3, 0)));
    }

    @RandomTest(times = 60)
    void commutesWithFlip(Seed seed) {
        SplittableRandom random = seed.random();
        Image image = any(random);
        int width = size(random);
        int height = size(random);
        assertThat(Resize.to(Orientation.MIRRORED.upright(image), width, height).rgb())
                .isEqualTo(Orientation.MIRRORED
                        .upright(Resize.to(image, width, height))
                        .rgb());
        Orientation over = Orientation.MIRRORED_UPSIDE_DOWN;
        assertThat(Resize.to(over.upright(image), width, height).rgb())
                .isEqualTo(over.upright(Resize.to(image, width, height)).rgb());
    }

    @Test
    void extremeReductionKeepsColour() {
        Image line = make(1_000_000, 1, (_, _) -> rgb(7, 255, 100));
        assertThat(Resize.to(line, 1, 1).rgb()).containsExactly(7, 255, 100);
        assertThat(Resize.to(Orientation.TRANSPOSED.upright(line), 3, 2).rgb())
                .isEqualTo(make(3, 2, (_, _) -> rgb(7, 255, 100)).rgb());
    }

    @ParameterizedTest
    @CsvSource({
        "512, 384, 256, 341×256",
        "384, 512, 256, 256×341",
        "10, 10, 7, 7×7",
        "1000, 1, 1, 1000×1",
        "3, 2, 1, 2×1"
    })
    void shortSideKeepsAspect(int width, int height, int side, String expected) {
        Image image = make(width, height, (_, _) -> 0);
        assertThat(Resize.shortSide(image, side)).hasToString(expected);
    }

    @Test
    void rejectsInvalidSizes() {
        Image image = make(3, 3, (_, _) -> 0);
        assertRejected(() -> Resize.to(image, 0, 5), "0×5");
        assertRejected(() -> Resize.to(image, 40_000, 40_000));
        assertRejected(() -> Resize.shortSide(image, 0));
    }

    private static Image any(SplittableRandom random) {
        return TestImages.random(random, size(random), size(random));
    }

    private static int size(SplittableRandom random) {
        return 1 + random.nextInt(30);
    }
}
