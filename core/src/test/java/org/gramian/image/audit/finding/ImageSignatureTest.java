package org.gramian.image.audit.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import javax.imageio.ImageIO;
import org.gramian.image.Image;
import org.gramian.image.audit.AuditReport;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class ImageSignatureTest {
    private static boolean near(Image one, Image other) {
        ImageSignature a = ImageSignature.of(one);
        ImageSignature b = ImageSignature.of(other);
        return Long.bitCount(a.hash() ^ b.hash()) <= AuditReport.THRESHOLDS.hashDistance()
                && a.difference(b) <= AuditReport.THRESHOLDS.difference();
    }

    private static Image compressed(Image image) throws IOException {
        ByteArrayOutputStream jpeg = new ByteArrayOutputStream();
        ImageIO.write(image.toBufferedImage(), "jpg", jpeg);
        return Image.of(ImageIO.read(new ByteArrayInputStream(jpeg.toByteArray())));
    }

    @RandomTest
    void resizedAndCompressedCopiesAreNear(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        Image image = SyntheticDataset.texture(random, random.nextInt(150, 300), random.nextInt(150, 300));
        assertThat(near(image, compressed(image))).isTrue();
        assertThat(near(image, SyntheticDataset.resized(image, random.nextInt(80, 150), random.nextInt(80, 150))))
                .isTrue();
    }

    @RandomTest
    void differentImagesAreNotNear(Seed seed) {
        SplittableRandom random = seed.random();
        assertThat(near(SyntheticDataset.texture(random, 150, 120), SyntheticDataset.texture(random, 120, 150)))
                .isFalse();
    }

    @RandomTest
    void differenceEqualsDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        Image one = SyntheticDataset.texture(random, 36, 32);
        Image other = SyntheticDataset.texture(random, 36, 32);
        double[] a = centred(one);
        double[] b = centred(other);
        double apart = 0;
        double all = 0;
        for (int i = 0; i < a.length; i++) {
            apart += (a[i] - b[i]) * (a[i] - b[i]);
            all += a[i] * a[i] + b[i] * b[i];
        }
        assertThat(ImageSignature.of(one).difference(ImageSignature.of(other)))
                .isCloseTo(Math.sqrt(apart / all), within(0.01));
        assertThat(ImageSignature.of(one).difference(ImageSignature.of(one))).isCloseTo(0, within(1e-7));
    }

    /** Blocks of 2×2 pixels less their channel's mean. */
    private static double[] centred(Image image) {
        double[] sums = new double[3 * 18 * 16];
        double[] mean = new double[3];
        for (int i = 0; i < image.rgb().length; i++) {
            int pixel = i / 3;
            int value = image.rgb()[i] & 0xff;
            sums[3 * (pixel / 36 / 2 * 18 + pixel % 36 / 2) + i % 3] += value / 4.0;
            mean[i % 3] += value / (36.0 * 32);
        }
        for (int i = 0; i < sums.length; i++) {
            sums[i] -= mean[i % 3];
        }
        return sums;
    }

    @Test
    void singleColourHasSignature() {
        ImageSignature pixel = ImageSignature.of(new Image(1, 1, new byte[] {1, 2, 3}));
        ImageSignature colour = ImageSignature.of(SyntheticDataset.colour(90, 10, 200));
        assertThat(pixel.difference(colour)).isZero();
        assertThat(pixel.hash()).isEqualTo(colour.hash());
    }

    @RandomTest
    void areaMeansKeepMeanOfImage(Seed seed) {
        SplittableRandom random = seed.random();
        Image image = SyntheticDataset.texture(random, random.nextInt(1, 60), random.nextInt(1, 60));
        double[] means = ImageSignature.areaMeans(image, random.nextInt(1, 40), random.nextInt(1, 40));
        for (int channel = 0; channel < 3; channel++) {
            double wanted = mean(channel, i -> image.rgb()[i] & 0xff, image.rgb().length);
            assertThat(mean(channel, i -> means[i], means.length)).isCloseTo(wanted, within(1e-9));
        }
    }

    private static double mean(int channel, IntToDoubleFunction values, int length) {
        double sum = 0;
        for (int i = channel; i < length; i += 3) {
            sum += values.applyAsDouble(i);
        }
        return sum * 3 / length;
    }
}
