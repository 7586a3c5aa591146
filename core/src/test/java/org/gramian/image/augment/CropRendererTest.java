package org.gramian.image.augment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.gramian.image.Image;
import org.gramian.image.augment.Augmentation.Draw;
import org.gramian.image.augment.Augmentation.Geometry;
import org.gramian.image.augment.CropParameters.Affine;
import org.gramian.image.augment.CropParameters.Colours;
import org.gramian.image.augment.CropParameters.Rectangle;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.resize.Resize;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class CropRendererTest {
    private static final int SIZE = 48;

    /** Levels of 0..255 in the order red, green, blue. */
    private static final Preprocessing LEVELS =
            new Preprocessing(Preprocessing.Order.RGB, List.of(0.0, 0.0, 0.0), List.of(1.0, 1.0, 1.0));

    static Image noise(Seed seed, int width, int height) {
        byte[] rgb = new byte[3 * width * height];
        seed.random().nextBytes(rgb);
        return new Image(width, height, rgb);
    }

    static float[] render(Image image, CropParameters parameters, Preprocessing preprocessing) {
        CropRenderer renderer = new CropRenderer(SIZE, preprocessing);
        float[] values = new float[3 * SIZE * SIZE];
        renderer.render(image, parameters, MemorySegment.ofArray(values));
        return values;
    }

    /** Maps a crop onto the whole image. */
    private static Affine whole(int width, int height) {
        return new Affine((float) width / SIZE, 0, 0, 0, (float) height / SIZE, 0);
    }

    private static CropParameters identity(Image image) {
        return with(image, Colours.IDENTITY);
    }

    private static CropParameters with(Image image, Colours colours) {
        return new CropParameters(whole(image.width(), image.height()), colours, Rectangle.NONE);
    }

    @RandomTest(times = 5)
    void identityEqualsResizedImage(Seed seed) {
        for (int[] size : new int[][] {{SIZE, SIZE}, {20, 31}, {62, 62}, {70, 55}, {300, 97}, {1, 1}}) {
            Image image = noise(seed, size[0], size[1]);
            byte[] expected = Resize.to(image, SIZE, SIZE).rgb();
            float[] found = render(image, identity(image), LEVELS);
            for (int i = 0; i < SIZE * SIZE; i++) {
                for (int channel = 0; channel < 3; channel++) {
                    assertThat(found[channel * SIZE * SIZE + i])
                            .as("%d×%d, pixel %d", size[0], size[1], i)
                            .isCloseTo(expected[3 * i + channel] & 0xff, within(1.01f));
                }
            }
        }
    }

    @RandomTest(times = 2)
    void separableAndGeneralInterpolationAgree(Seed seed) {
        Image image = noise(seed, 130, 70);
        for (int i = 0; i < 10; i++) {
            Affine map = Augmentation.STANDARD
                    .draw(new Draw(seed.random().nextLong(), 0, i), new Geometry(130, 70, true), SIZE)
                    .map();
            Affine sheared = new Affine(map.xx(), 1e-9f, map.x0(), map.yx(), map.yy(), map.y0());
            float[] general = render(image, new CropParameters(sheared, Colours.IDENTITY, Rectangle.NONE), LEVELS);
            float[] separable = render(image, new CropParameters(map, Colours.IDENTITY, Rectangle.NONE), LEVELS);
            assertThat(general).containsExactly(separable, within(2e-3f));
        }
    }

    @RandomTest(times = 5)
    void contrastKeepsMeanAndScalesDeviation(Seed seed) {
        Image image = noise(seed, 60, 60); // reduced noise keeps far from 0 and 255
        double[] plain = meanAndDeviation(render(image, identity(image), LEVELS));
        double[] less = meanAndDeviation(render(image, with(image, new Colours(0.5f, 0, 1, 1, 255, 256)), LEVELS));
        assertThat(less[0]).isCloseTo(plain[0], within(1e-3));
        assertThat(less[1]).isCloseTo(0.5 * plain[1], within(1e-3));
        double[] lighter = meanAndDeviation(render(image, with(image, new Colours(0.5f, 20, 1, 1, 255, 256)), LEVELS));
        assertThat(lighter[0]).isCloseTo(plain[0] + 20, within(1e-3));
        assertThat(lighter[1]).isCloseTo(less[1], within(1e-3));
    }

    private static double[] meanAndDeviation(float[] values) {
        double mean = 0;
        double square = 0;
        for (float value : values) {
            mean += value / values.length;
            square += (double) value * value / values.length;
        }
        return new double[] {mean, Math.sqrt(square - mean * mean)};
    }

    @RandomTest(times = 3)
    void zeroSaturationEqualsLuma(Seed seed) {
        Image image = noise(seed, 60, 50);
        float[] plain = render(image, identity(image), LEVELS);
        float[] gray = render(image, with(image, new Colours(1, 0, 0, 1, 255, 256)), LEVELS);
        int plane = SIZE * SIZE;
        for (int i = 0; i < plane; i++) {
            float luma = 0.299f * plain[i] + 0.587f * plain[plane + i] + 0.114f * plain[2 * plane + i];
            for (int channel = 0; channel < 3; channel++) {
                assertThat(gray[channel * plane + i]).isCloseTo(luma, within(1e-3f));
            }
        }
    }

    @RandomTest(times = 3)
    void sharpnessRaisesDeviation(Seed seed) {
        Image image = noise(seed, 60, 60);
        Colours sharp = new Colours(0.5f, 0, 1, 1.5f, 255, 256);
        Colours plain = new Colours(0.5f, 0, 1, 1, 255, 256);
        assertThat(meanAndDeviation(render(image, with(image, sharp), LEVELS))[1])
                .isGreaterThan(1.2 * meanAndDeviation(render(image, with(image, plain), LEVELS))[1]);
        byte[] constant = new byte[3 * 60 * 60];
        Arrays.fill(constant, (byte) 77);
        Image flat = new Image(60, 60, constant);
        for (float value : render(flat, with(flat, sharp), LEVELS)) {
            assertThat(value).isCloseTo(77, within(1e-3f));
        }
    }

    @Test
    void posterizesAndSolarizesBytes() {
        Colours colours = new Colours(1, 0, 1, 1, 240, 192);
        assertThat(colours.level(0x5f)).isEqualTo(0x50);
        assertThat(colours.level(200)).isEqualTo(255 - 192);
        assertThat(colours.level(191)).isEqualTo(176);
        assertThat(Colours.IDENTITY.level(255)).isEqualTo(255);
    }

    @RandomTest(times = 3)
    void valuesAreClampedErasedAndPreprocessed(Seed seed) {
        Image image = noise(seed, SIZE, SIZE);
        CropParameters bright =
                new CropParameters(whole(SIZE, SIZE), new Colours(1, 300, 1, 1, 255, 256), new Rectangle(3, 5, 10, 7));
        float[] found = render(image, bright, Preprocessing.TORCHVISION);
        for (int channel = 0; channel < 3; channel++) {
            double white = (255 - Preprocessing.TORCHVISION.mean().get(channel))
                    / Preprocessing.TORCHVISION.std().get(channel);
            for (int i = 0; i < SIZE * SIZE; i++) {
                boolean erased = i % SIZE >= 3 && i % SIZE < 10 && i / SIZE >= 5 && i / SIZE < 7;
                assertThat((double) found[channel * SIZE * SIZE + i]).isCloseTo(erased ? 0 : white, within(1e-5));
            }
        }
    }

    @RandomTest(times = 3)
    void channelOrderFollowsPreprocessing(Seed seed) {
        Image image = noise(seed, SIZE, SIZE);
        float[] found = render(image, identity(image), Preprocessing.CAFFE);
        for (int i = 0; i < SIZE * SIZE; i++) {
            assertThat(found[i]).isCloseTo((image.rgb()[3 * i + 2] & 0xff) - 104f, within(1e-3f));
            assertThat(found[2 * SIZE * SIZE + i]).isCloseTo((image.rgb()[3 * i] & 0xff) - 123f, within(1e-3f));
        }
    }
}
